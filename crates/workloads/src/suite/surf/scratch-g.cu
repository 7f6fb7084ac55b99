// ScratchG: what the original leaves in global memory is copied to shared memory, too.

#define LOCAL Copied
#define REST Copied
#define TEMPORARIES
#define OWN(type, name, count) __shared__ CHUNK type name[count]

#include "tiles.cuh"

#include "kernels.cuh"
