// The sum of each row of a matrix, in two ways that give the same results.

// A thread for each row: in every step, the 32 lanes of a warp read 32 rows, each of a line of its own.
extern "C" __global__ void by_thread(int rows, int columns, const float *matrix, float *sums) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int column = 0; column < columns; column++) {
            sum += matrix[row * columns + column];
        }
        sums[row] = sum;
    }
}

// A warp for each row: in every step, its lanes read 32 neighbours, which lie in one line. They then add up their sums.
extern "C" __global__ void by_warp(int rows, int columns, const float *matrix, float *sums) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row < rows) {
        float sum = 0;
        for (int column = lane; column < columns; column += 32) {
            sum += matrix[row * columns + column];
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, distance);
        }
        if (lane == 0) {
            sums[row] = sum;
        }
    }
}
