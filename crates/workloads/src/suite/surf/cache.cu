// Cache: global memory for all. What the original has in shared memory for itself lies in a buffer, CTA by CTA.

#define LOCAL Direct
#define REST Direct
#define TEMPORARIES , void *temporaries
#define OWN(type, name, count) type *name = (type *)temporaries + (blockIdx.y * gridDim.x + blockIdx.x) * (count)

#include "tiles.cuh"

#include "kernels.cuh"
