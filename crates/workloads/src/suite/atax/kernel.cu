// y = A^T (A x), A of nx rows and ny columns, row-major.
//
// Pointers may alias as far as the compiler knows, as in PolyBench, so that the accumulator in memory is
// written in every step.

// tmp = A x, one thread per row: the lanes of a warp read one column of A, `ny` elements apart.
extern "C" __global__ void atax_rows(int nx, int ny, float *a, float *x, float *tmp) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < nx) {
        #pragma unroll 1
        for (int j = 0; j < ny; j++) {
            tmp[row] += a[row * ny + j] * x[j];
        }
    }
}

// y = A^T tmp, one thread per column: the lanes of a warp read consecutive elements of a row.
extern "C" __global__ void atax_columns(int nx, int ny, float *a, float *y, float *tmp) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < ny) {
        #pragma unroll 1
        for (int i = 0; i < nx; i++) {
            y[column] += a[i * ny + column] * tmp[i];
        }
    }
}
