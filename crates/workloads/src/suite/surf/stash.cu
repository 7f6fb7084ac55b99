// Stash: what the original keeps in shared memory is mapped.

#define LOCAL Mapped
#define REST Direct
#define TEMPORARIES
#define OWN(type, name, count) __shared__ CHUNK type name[count]

#include "tiles.cuh"

#include "kernels.cuh"
