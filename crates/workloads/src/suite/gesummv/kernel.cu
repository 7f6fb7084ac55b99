// y = alpha A x + beta B x, one thread per row of A and B, each of nx rows and ny columns.
//
// Pointers may alias as far as the compiler knows, as in PolyBench, so that both sums are written to memory in
// every step. The lanes of a warp read one column of A and one of B, `ny` elements apart.
extern "C" __global__ void gesummv(int nx, int ny, float alpha, float beta, float *a, float *b, float *x,
                                   float *y, float *tmp) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < nx) {
        #pragma unroll 1
        for (int j = 0; j < ny; j++) {
            tmp[row] += a[row * ny + j] * x[j];
            y[row] += b[row * ny + j] * x[j];
        }
        y[row] = alpha * tmp[row] + beta * y[row];
    }
}
