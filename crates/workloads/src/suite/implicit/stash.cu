// Updates one field of every element. Stash: the fields are mapped; nothing is copied.

#include "elements.cuh"
#include "stash.cuh"

#define BLOCK 256

extern "C" __global__ void implicit(Element *elements) {
    __shared__ CHUNK unsigned local[BLOCK];
    int t = threadIdx.x;
    Element *mine = elements + blockIdx.x * BLOCK;

    if (in_first_warp()) {
        stash_add_map(shared_address(local), &mine->field, sizeof(mine->field), sizeof(Element), BLOCK, 0, 1, true);
    }
    __syncthreads();
    unsigned *field = mapped(local, 0);
    field[t] = compute(field[t]);
}
