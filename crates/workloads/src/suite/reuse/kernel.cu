// Updates one field of every element, launch after launch. Scratchpad: each launch copies the fields in and back.
//
// A CTA has PIECE elements, so that all CTAs of one SM together hold the whole array's fields.

#include "elements.cuh"

#define BLOCK 256
#define PIECE (2 * BLOCK)

extern "C" __global__ void reuse(Element *elements) {
    __shared__ unsigned local[PIECE];
    int t = threadIdx.x;
    Element *mine = elements + blockIdx.x * PIECE;

    for (int i = 0; i < PIECE; i += BLOCK) {
        local[i + t] = mine[i + t].field;
    }
    __syncthreads();
    for (int i = 0; i < PIECE; i += BLOCK) {
        local[i + t] = compute(local[i + t]);
    }
    __syncthreads();
    for (int i = 0; i < PIECE; i += BLOCK) {
        mine[i + t].field = local[i + t];
    }
}
