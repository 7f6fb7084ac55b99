// Updates one field of every element, launch after launch. Scratchpad with DMA: each launch moves the fields in and back.

#include "elements.cuh"
#include "stash.cuh"

#define BLOCK 256
#define PIECE (2 * BLOCK)

extern "C" __global__ void reuse(Element *elements) {
    __shared__ CHUNK unsigned local[PIECE];
    int t = threadIdx.x;
    Element *mine = elements + blockIdx.x * PIECE;

    if (in_first_warp()) {
        dma_load(shared_address(local), &mine->field, sizeof(mine->field), sizeof(Element), PIECE, 0, 1);
    }
    __syncthreads();
    for (int i = 0; i < PIECE; i += BLOCK) {
        local[i + t] = compute(local[i + t]);
    }
    __syncthreads();
    if (in_first_warp()) {
        dma_store(shared_address(local), &mine->field, sizeof(mine->field), sizeof(Element), PIECE, 0, 1);
    }
}
