// x1 += A y1 and x2 += A^T y2, A of nx rows and ny columns.
//
// Pointers may alias as far as the compiler knows, as in PolyBench, so that the accumulator in memory is
// written in every step.

// x1 += A y1, one thread per row: the lanes of a warp read one column of A, `ny` elements apart.
extern "C" __global__ void mvt_rows(int nx, int ny, float *a, float *x1, float *y1) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < nx) {
        #pragma unroll 1
        for (int j = 0; j < ny; j++) {
            x1[row] += a[row * ny + j] * y1[j];
        }
    }
}

// x2 += A^T y2, one thread per column: the lanes of a warp read consecutive elements of a row.
extern "C" __global__ void mvt_columns(int nx, int ny, float *a, float *x2, float *y2) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < ny) {
        #pragma unroll 1
        for (int i = 0; i < nx; i++) {
            x2[column] += a[i * ny + column] * y2[i];
        }
    }
}
