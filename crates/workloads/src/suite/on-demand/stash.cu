// Updates one field of one element in 32, known only when the kernel runs. Stash: all are mapped, that one is brought in.

#include "chosen.cuh"
#include "elements.cuh"
#include "stash.cuh"

#define BLOCK 256

extern "C" __global__ void on_demand(Element *elements, unsigned pick) {
    __shared__ CHUNK unsigned local[BLOCK];
    int t = threadIdx.x;
    Element *mine = elements + blockIdx.x * BLOCK;

    if (in_first_warp()) {
        stash_add_map(shared_address(local), &mine->field, sizeof(mine->field), sizeof(Element), BLOCK, 0, 1, true);
    }
    __syncthreads();
    unsigned *field = mapped(local, 0);
    if (is_chosen(pick)) {
        field[t] = compute(field[t]);
    }
}
