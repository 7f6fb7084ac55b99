// Updates one field of one element in 32, known only when the kernel runs. Scratchpad: all are copied in and back, as any
// may be the one.

#include "chosen.cuh"
#include "elements.cuh"

#define BLOCK 256

extern "C" __global__ void on_demand(Element *elements, unsigned pick) {
    __shared__ unsigned local[BLOCK];
    int t = threadIdx.x;
    Element *mine = elements + blockIdx.x * BLOCK;

    local[t] = mine[t].field;
    __syncthreads();
    if (is_chosen(pick)) {
        local[t] = compute(local[t]);
    }
    __syncthreads();
    mine[t].field = local[t];
}
