// One column's step of a modified Gram-Schmidt factorisation A = Q R, A of m rows and n columns, as three launches.
//
// Pointers may alias as far as the compiler knows, as in PolyBench, so that a row of R is accumulated in memory.

// The column's length, by a single thread: a chain of m dependent additions, each after a read of another line.
extern "C" __global__ void column_norm(int m, int n, float *a, float *r, float *q, int k) {
    if (blockIdx.x * blockDim.x + threadIdx.x != 0) {
        return;
    }
    float squares = 0.0f;
    for (int row = 0; row < m; row++) {
        squares += a[row * n + k] * a[row * n + k];
    }
    r[k * n + k] = sqrtf(squares);
}

// The column of Q, a thread per row: lanes lie n elements apart.
extern "C" __global__ void column_scale(int m, int n, float *a, float *r, float *q, int k) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m) {
        q[row * n + k] = a[row * n + k] / r[k * n + k];
    }
}

// The row of R and what it takes off A, a thread per column right of k: reads of A are coalesced, those of Q are
// broadcast.
extern "C" __global__ void project(int m, int n, float *a, float *r, float *q, int k) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column <= k || column >= n) {
        return;
    }
    r[k * n + column] = 0.0f;
    for (int row = 0; row < m; row++) {
        r[k * n + column] += q[row * n + k] * a[row * n + column];
    }
    for (int row = 0; row < m; row++) {
        a[row * n + column] -= q[row * n + k] * r[k * n + column];
    }
}
