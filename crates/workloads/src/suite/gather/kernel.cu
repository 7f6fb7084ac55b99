// Random reads: every thread adds up `loads` words picked by a hash of its own number.
//
// The lanes of a warp read 32 different lines, and no read depends on another.

// A bijection of 32-bit words that scatters consecutive numbers (multiply and xor-shift).
static __device__ unsigned scatter(unsigned z) {
    z = (z ^ (z >> 16)) * 0x7feb352du;
    z = (z ^ (z >> 15)) * 0x846ca68bu;
    return z ^ (z >> 16);
}

// `mask` is the table's length in words, a power of two, minus one.
extern "C" __global__ void gather(unsigned threads, unsigned loads, unsigned mask, const unsigned *table,
                                  unsigned *out) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < threads) {
        unsigned sum = 0;
        for (unsigned k = 0; k < loads; k++) {
            sum += table[scatter(k * threads + thread) & mask];
        }
        out[thread] = sum;
    }
}
