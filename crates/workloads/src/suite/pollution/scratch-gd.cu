// Updates one field in two arrays: A passes by once, BLOCK elements of a CTA at each step; B is updated again at every step.
// Scratchpad with DMA: transfers move A's fields in and back, past the cache that B needs.

#include "elements.cuh"
#include "stash.cuh"

#define BLOCK 128

extern "C" __global__ void pollution(Element *a, Element *b, int steps) {
    __shared__ CHUNK unsigned local[BLOCK];
    int t = threadIdx.x;
    Element *stays = b + blockIdx.x * BLOCK;
    Element *passes = a + blockIdx.x * steps * BLOCK;

    for (int step = 0; step < steps; step++, passes += BLOCK) {
        if (in_first_warp()) {
            dma_load(shared_address(local), &passes->field, sizeof(passes->field), sizeof(Element), BLOCK, 0, 1);
        }
        __syncthreads();
        local[t] = compute(local[t]);
        __syncthreads();
        if (in_first_warp()) {
            dma_store(shared_address(local), &passes->field, sizeof(passes->field), sizeof(Element), BLOCK, 0, 1);
        }
        stays[t].field = compute(stays[t].field);
    }
}
