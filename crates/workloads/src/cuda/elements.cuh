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

// The elements of one CPU thread: each has its share of them in one piece.
struct Share {
    unsigned first;
    unsigned end;

    __device__ explicit Share(unsigned n) {
        unsigned most = (n + gridDim.x - 1) / gridDim.x;
        first = min(blockIdx.x * most, n);
        end = min(first + most, n);
    }
};

// CPU: gives every element's field its first value.
extern "C" __global__ void cpu_write(Element *elements, unsigned n) {
    Share share(n);
    for (unsigned i = share.first; i < share.end; i++) {
        elements[i].field = i * 0x9e3779b9u;
    }
}

// CPU: a hash of the share's fields in their order.
extern "C" __global__ void cpu_read(const Element *elements, unsigned n, unsigned *hashes) {
    Share share(n);
    unsigned hash = 0;
    for (unsigned i = share.first; i < share.end; i++) {
        hash = 31 * hash + elements[i].field;
    }
    hashes[blockIdx.x] = hash;
}
