// Counts the values of bytes, four to a word, in 256 bins.

#define BINS 256

// Every CTA counts in shared memory and adds its counts to the result at the end.
extern "C" __global__ void histogram_shared(unsigned words, const unsigned *data, unsigned *bins) {
    __shared__ unsigned local[BINS];
    for (unsigned bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        local[bin] = 0;
    }
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
        unsigned word = data[i];
        atomicAdd(&local[word & 0xff], 1u);
        atomicAdd(&local[(word >> 8) & 0xff], 1u);
        atomicAdd(&local[(word >> 16) & 0xff], 1u);
        atomicAdd(&local[word >> 24], 1u);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        atomicAdd(&bins[bin], local[bin]);
    }
}

// Every byte is counted straight in the result.
extern "C" __global__ void histogram_global(unsigned words, const unsigned *data, unsigned *bins) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
        unsigned word = data[i];
        atomicAdd(&bins[word & 0xff], 1u);
        atomicAdd(&bins[(word >> 8) & 0xff], 1u);
        atomicAdd(&bins[(word >> 16) & 0xff], 1u);
        atomicAdd(&bins[word >> 24], 1u);
    }
}
