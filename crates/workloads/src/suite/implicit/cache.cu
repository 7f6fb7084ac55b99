// Updates one field of every element. Cache: in its place.

#include "elements.cuh"

#define BLOCK 256

extern "C" __global__ void implicit(Element *elements) {
    int t = threadIdx.x;
    Element *mine = elements + blockIdx.x * BLOCK;

    mine[t].field = compute(mine[t].field);
}
