// Updates one field of every element. Scratchpad with DMA: a transfer brings the fields in, another takes them back.

#include "elements.cuh"
#include "stash.cuh"

#define BLOCK 256

extern "C" __global__ void implicit(Element *elements) {
    __shared__ CHUNK unsigned local[BLOCK];
    int t = threadIdx.x;
    Element *mine = elements + blockIdx.x * BLOCK;

    if (in_first_warp()) {
        dma_load(shared_address(local), &mine->field, sizeof(mine->field), sizeof(Element), BLOCK, 0, 1);
    }
    __syncthreads();
    local[t] = compute(local[t]);
    __syncthreads();
    if (in_first_warp()) {
        dma_store(shared_address(local), &mine->field, sizeof(mine->field), sizeof(Element), BLOCK, 0, 1);
    }
}
