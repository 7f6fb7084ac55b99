// The other half of `apart_main.cu`, with a kernel of its own.

#include <cuda_runtime.h>

__constant__ int offset;

__device__ int twice(int value) {
    return 2 * value;
}

__global__ void square(int *out) {
    *out = offset * offset;
}

int launch_other(int *out) {
    int *at;
    if (cudaMalloc(&at, sizeof *out) != cudaSuccess) {
        return 1;
    }
    square<<<1, 1>>>(at);
    return cudaMemcpy(out, at, sizeof *out, cudaMemcpyDeviceToHost) != cudaSuccess;
}
