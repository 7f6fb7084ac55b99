// Updates one field in two arrays: A passes by once, BLOCK elements of a CTA at each step; B is updated again at every step.
// Stash: A's fields are mapped, each step to its own, and pass by the cache that B needs.

#include "elements.cuh"
#include "stash.cuh"

#define BLOCK 128

extern "C" __global__ void pollution(Element *a, Element *b, int steps) {
    __shared__ CHUNK unsigned local[BLOCK];
    unsigned *field = mapped(local, 0);
    int t = threadIdx.x;
    Element *stays = b + blockIdx.x * BLOCK;
    Element *passes = a + blockIdx.x * steps * BLOCK;

    if (in_first_warp()) {
        stash_add_map(shared_address(local), &passes->field, sizeof(passes->field), sizeof(Element), BLOCK, 0, 1, true);
    }
    __syncthreads();
    for (int step = 0;;) {
        field[t] = compute(field[t]);
        stays[t].field = compute(stays[t].field);
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
