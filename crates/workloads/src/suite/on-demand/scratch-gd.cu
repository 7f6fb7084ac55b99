// Updates one field of one element in 32, known only when the kernel runs. Scratchpad with DMA: all are moved in and back, as
// any may be the one.

#include "chosen.cuh"
#include "elements.cuh"
#include "stash.cuh"

#define BLOCK 256

extern "C" __global__ void on_demand(Element *elements, unsigned pick) {
    __shared__ CHUNK unsigned local[BLOCK];
    int t = threadIdx.x;
    Element *mine = elements + blockIdx.x * BLOCK;

    if (in_first_warp()) {
        dma_load(shared_address(local), &mine->field, sizeof(mine->field), sizeof(Element), BLOCK, 0, 1);
    }
    __syncthreads();
    if (is_chosen(pick)) {
        local[t] = compute(local[t]);
    }
    __syncthreads();
    if (in_first_warp()) {
        dma_store(shared_address(local), &mine->field, sizeof(mine->field), sizeof(Element), BLOCK, 0, 1);
    }
}
