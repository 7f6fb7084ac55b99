// The array of the Stash paper's microbenchmarks: structs of which a kernel uses one field (section 5.4.1), and what the
// CPU cores do with it before and after.
//
// The paper gives a struct no size. Here it has 8 words: a stash full of fields (16 KB) has 128 KB of structs in 32 pages, half of
// the 64 that its VP-map holds.

#pragma once

#define WORDS 8

struct Element {
    unsigned field;
    unsigned others[WORDS - 1];
};

// What a kernel makes of a field.
__device__ inline unsigned compute(unsigned value) {
    return 3 * value + 1;
}

// Elements of a line of memory.
#define TURN 4

// Calls `visit` with the number of each element of a CPU thread, in order. Threads take lines in turn: what the GPU still
// owns when they read, the last elements, falls to all of them.
template <typename Visit> __device__ inline void each_element(unsigned n, Visit visit) {
    for (unsigned first = blockIdx.x * TURN; first < n; first += gridDim.x * TURN) {
        for (unsigned i = first; i < min(first + TURN, n); i++) {
            visit(i);
        }
    }
}

// CPU: gives every element's field its first value.
extern "C" __global__ void cpu_write(Element *elements, unsigned n) {
    each_element(n, [=](unsigned i) { elements[i].field = i * 0x9e3779b9u; });
}

// CPU: a hash of the thread's fields in their order.
extern "C" __global__ void cpu_read(const Element *elements, unsigned n, unsigned *hashes) {
    unsigned hash = 0;
    each_element(n, [=, &hash](unsigned i) { hash = 31 * hash + elements[i].field; });
    hashes[blockIdx.x] = hash;
}
