// Updates one field in two arrays: A passes by once, BLOCK elements of a CTA at each step; B is updated again at every step.
// Scratchpad: A's fields are copied in and back, through the cache that B needs.

#include "elements.cuh"

#define BLOCK 128

extern "C" __global__ void pollution(Element *a, Element *b, int steps) {
    __shared__ unsigned local[BLOCK];
    int t = threadIdx.x;
    Element *stays = b + blockIdx.x * BLOCK;
    Element *passes = a + blockIdx.x * steps * BLOCK;

    for (int step = 0; step < steps; step++, passes += BLOCK) {
        local[t] = passes[t].field;
        __syncthreads();
        local[t] = compute(local[t]);
        __syncthreads();
        passes[t].field = local[t];
        stays[t].field = compute(stays[t].field);
        // The next step's fields replace these.
        __syncthreads();
    }
}
