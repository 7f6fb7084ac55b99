// ScratchG: what the original leaves in global memory is copied to shared memory, too.

#define LOCAL Copied
#define REST Copied

#include "tiles.cuh"

#include "kernels.cuh"
