// A kernel whose function and constant are in another file: compiled apart, linked when the program loads.

#include <cstdio>

#include <cuda_runtime.h>

extern __device__ int twice(int);
extern __constant__ int offset;
extern int launch_other(int *out);

__global__ void compute(int *out) {
    out[threadIdx.x] = twice(int(threadIdx.x)) + offset;
}

int main() {
    int *out_at, out[32], other = 0;
    const int seven = 7;
    bool right = cudaMalloc(&out_at, sizeof out) == cudaSuccess;
    right = right && cudaMemcpyToSymbol(offset, &seven, sizeof seven) == cudaSuccess;
    compute<<<1, 32>>>(out_at);
    right = right && cudaMemcpy(out, out_at, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess;
    for (int i = 0; right && i < 32; i++) {
        right = out[i] == 2 * i + 7;
    }
    right = right && launch_other(&other) == 0 && other == 49;
    std::printf("compiled apart: %s (%s)\n", right ? "right" : "WRONG", cudaGetErrorString(cudaGetLastError()));
    return !right;
}
