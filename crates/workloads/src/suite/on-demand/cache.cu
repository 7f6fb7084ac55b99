// Updates one field of one element in 32, known only when the kernel runs. Cache: that one, in its place.

#include "chosen.cuh"
#include "elements.cuh"

#define BLOCK 256

extern "C" __global__ void on_demand(Element *elements, unsigned pick) {
    int t = threadIdx.x;
    Element *mine = elements + blockIdx.x * BLOCK;

    if (is_chosen(pick)) {
        mine[t].field = compute(mine[t].field);
    }
}
