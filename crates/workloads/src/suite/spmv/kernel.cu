// y = A x, A sparse in CSR form.

// One thread per row: lanes wait for the longest row of their warp.
extern "C" __global__ void spmv_scalar(int rows, const int *row_start, const int *columns, const float *values,
                                       const float *x, float *y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        int end = row_start[row + 1];
        for (int e = row_start[row]; e < end; e++) {
            sum += values[e] * x[columns[e]];
        }
        y[row] = sum;
    }
}

// One warp per row: the lanes take every 32nd element and add their sums by shuffles.
extern "C" __global__ void spmv_vector(int rows, const int *row_start, const int *columns, const float *values,
                                       const float *x, float *y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row < rows) {
        float sum = 0.0f;
        int end = row_start[row + 1];
        for (int e = row_start[row] + lane; e < end; e += 32) {
            sum += values[e] * x[columns[e]];
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xffffffffu, sum, distance);
        }
        if (lane == 0) {
            y[row] = sum;
        }
    }
}
