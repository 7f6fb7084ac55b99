// StashG: the original leaves nothing in global memory.

#define LOCAL Mapped
#define REST Mapped

#include "tiles.cuh"

#include "kernels.cuh"
