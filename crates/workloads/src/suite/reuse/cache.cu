// Updates one field of every element, launch after launch. Cache: in its place; the fields' lines are more than it holds.

#include "elements.cuh"

#define BLOCK 256
#define PIECE (2 * BLOCK)

extern "C" __global__ void reuse(Element *elements) {
    int t = threadIdx.x;
    Element *mine = elements + blockIdx.x * PIECE;

    for (int i = 0; i < PIECE; i += BLOCK) {
        mine[i + t].field = compute(mine[i + t].field);
    }
}
