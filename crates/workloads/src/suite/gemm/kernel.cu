// C = alpha A B + beta C, one thread per element of C.
//
// The pointers may alias as far as the compiler knows, as in PolyBench: C is therefore written in
// every step of the inner loop, and these writes are part of the benchmark's traffic.
extern "C" __global__ void gemm(int ni, int nj, int nk, float alpha, float beta, float *a, float *b, float *c) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= ni || column >= nj) {
        return;
    }
    c[row * nj + column] *= beta;
    #pragma unroll 1
    for (int k = 0; k < nk; k++) {
        c[row * nj + column] += alpha * a[row * nk + k] * b[k * nj + column];
    }
}
