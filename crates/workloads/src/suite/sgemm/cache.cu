// Cache: global memory for all.

#define LOCAL Direct
#define REST Direct

#include "tiles.cuh"

#include "kernels.cuh"
