// Updates one field in two arrays: A passes by once, BLOCK elements of a CTA at each step; B is updated again at every step.
// Stash: the fields of both are mapped, B's for all steps.

#include "elements.cuh"
#include "stash.cuh"

#define BLOCK 128

extern "C" __global__ void pollution(Element *a, Element *b, int steps) {
    __shared__ CHUNK unsigned local[BLOCK];
    __shared__ CHUNK unsigned kept[BLOCK];
    unsigned *field = mapped(local, 0);
    unsigned *again = mapped(kept, 1);
    int t = threadIdx.x;
    Element *stays = b + blockIdx.x * BLOCK;
    Element *passes = a + blockIdx.x * steps * BLOCK;

    if (in_first_warp()) {
        stash_add_map(shared_address(local), &passes->field, sizeof(passes->field), sizeof(Element), BLOCK, 0, 1, true);
        stash_add_map(shared_address(kept), &stays->field, sizeof(stays->field), sizeof(Element), BLOCK, 0, 1, true);
    }
    __syncthreads();
    for (int step = 0;;) {
        field[t] = compute(field[t]);
        again[t] = compute(again[t]);
        if (++step == steps) {
            break;
        }
        passes += BLOCK;
        __syncthreads();
        if (in_first_warp()) {
            stash_chg_map(0, shared_address(local), &passes->field, sizeof(passes->field), sizeof(Element), BLOCK, 0, 1,
                          true);
        }
        __syncthreads();
    }
}
