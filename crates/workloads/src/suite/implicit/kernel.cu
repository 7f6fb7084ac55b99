// Updates one field of every element. Scratchpad: the field is copied in, updated there, and copied back.

#include "elements.cuh"

#define BLOCK 256

extern "C" __global__ void implicit(Element *elements) {
    __shared__ unsigned local[BLOCK];
    int t = threadIdx.x;
    Element *mine = elements + blockIdx.x * BLOCK;

    local[t] = mine[t].field;
    __syncthreads();
    local[t] = compute(local[t]);
    __syncthreads();
    mine[t].field = local[t];
}
