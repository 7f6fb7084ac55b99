// Updates one field in two arrays: A passes by once, BLOCK elements of a CTA at each step; B is updated again at every step.
// Cache: both in their places.

#include "elements.cuh"

#define BLOCK 128

extern "C" __global__ void pollution(Element *a, Element *b, int steps) {
    int t = threadIdx.x;
    // Volatile, or the compiler would keep the field in a register.
    volatile Element *stays = b + blockIdx.x * BLOCK;
    Element *passes = a + blockIdx.x * steps * BLOCK;

    for (int step = 0; step < steps; step++, passes += BLOCK) {
        passes[t].field = compute(passes[t].field);
        stays[t].field = compute(stays[t].field);
    }
}
