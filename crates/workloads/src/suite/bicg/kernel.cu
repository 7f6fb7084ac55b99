// s = A^T r and q = A p, the two products of a step of the BiCG method; A of nx rows and ny columns.
//
// Pointers may alias as far as the compiler knows, as in PolyBench, so that the accumulator in memory is
// written in every step.

// s = A^T r, one thread per column: the lanes of a warp read consecutive elements of a row.
extern "C" __global__ void bicg_columns(int nx, int ny, float *a, float *r, float *s) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < ny) {
        s[column] = 0.0f;
        #pragma unroll 1
        for (int i = 0; i < nx; i++) {
            s[column] += a[i * ny + column] * r[i];
        }
    }
}

// q = A p, one thread per row: the lanes of a warp read one column of A, `ny` elements apart.
extern "C" __global__ void bicg_rows(int nx, int ny, float *a, float *p, float *q) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < nx) {
        q[row] = 0.0f;
        #pragma unroll 1
        for (int j = 0; j < ny; j++) {
            q[row] += a[row * ny + j] * p[j];
        }
    }
}
