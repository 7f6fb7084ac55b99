// StashG: all is mapped.

#define LOCAL Mapped
#define REST Mapped

#include "tiles.cuh"

#include "kernels.cuh"
