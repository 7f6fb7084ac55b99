// Stash: what the original keeps in shared memory is mapped.

#define LOCAL Mapped
#define REST Direct

#include "tiles.cuh"

#include "kernels.cuh"
