// C = alpha (A B^T + B A^T) + beta C, one thread per element of C; A and B of n rows and m columns.
//
// Pointers may alias as far as the compiler knows, as in PolyBench, so that C is written in every step of the
// inner loop. Lanes of a warp have neighbouring columns of C, which are rows of A and B: they read both `m`
// elements apart, and one element of the warp's own row for all.
extern "C" __global__ void syr2k(int n, int m, float alpha, float beta, float *a, float *b, float *c) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n) {
        return;
    }
    c[row * n + column] *= beta;
    #pragma unroll 1
    for (int k = 0; k < m; k++) {
        float ab = alpha * a[row * m + k] * b[column * m + k];
        float ba = alpha * b[row * m + k] * a[column * m + k];
        c[row * n + column] += ab + ba;
    }
}
