// The condition of On-demand, in all versions.

#pragma once

// Whether the thread has the one element of its 32. It needs no memory: the kernel has no other accesses than those to
// the elements.
__device__ inline bool is_chosen(unsigned pick) {
    unsigned group = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    return threadIdx.x % 32 == (group * 11 + pick) % 32;
}
