// y = A x, A sparse and stored by jagged diagonals: rows sorted by their length, and diagonal k holds the k-th entry of
// every row that has one, so that the lanes of a warp read neighbouring words of it.

// One length for each warp's rows, and where each diagonal begins: read by all lanes at once.
#define MOST 5000
__constant__ int warp_length[MOST];
__constant__ int diagonal[MOST];

extern "C" __global__ void spmv_jds(float *y, const float *values, const int *columns, const int *row_of,
                                    const float *x, int rows) {
    int sorted = blockIdx.x * blockDim.x + threadIdx.x;
    if (sorted >= rows) {
        return;
    }
    int length = warp_length[sorted / 32];
    float sum = 0.0f;
    // The loads of an entry are issued before the product of the entry before it is added.
    int at = diagonal[0] + sorted;
    float value = values[at];
    float gathered = x[columns[at]];
    for (int k = 1; k < length; k++) {
        at = diagonal[k] + sorted;
        float next_value = values[at];
        float next_gathered = x[columns[at]];
        sum += value * gathered;
        value = next_value;
        gathered = next_gathered;
    }
    sum += value * gathered;
    y[row_of[sorted]] = sum;
}
