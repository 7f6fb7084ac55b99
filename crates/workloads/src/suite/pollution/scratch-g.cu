// Updates one field in two arrays: A passes by once, BLOCK elements of a CTA at each step; B is updated again at every step.
// Scratchpad: the fields of both are copied in and back, B's once for all steps.

#include "elements.cuh"

#define BLOCK 128

extern "C" __global__ void pollution(Element *a, Element *b, int steps) {
    __shared__ unsigned local[BLOCK];
    __shared__ unsigned kept[BLOCK];
    int t = threadIdx.x;
    Element *stays = b + blockIdx.x * BLOCK;
    Element *passes = a + blockIdx.x * steps * BLOCK;

    kept[t] = stays[t].field;
    for (int step = 0; step < steps; step++, passes += BLOCK) {
        local[t] = passes[t].field;
        __syncthreads();
        local[t] = compute(local[t]);
        __syncthreads();
        passes[t].field = local[t];
        kept[t] = compute(kept[t]);
        // The next step's fields replace these.
        __syncthreads();
    }
    stays[t].field = kept[t];
}
