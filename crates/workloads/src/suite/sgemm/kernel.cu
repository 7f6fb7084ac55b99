// C = alpha A B^T + beta C, all in column-major order, tiled in registers (Volkov and Demmel, "Benchmarking GPUs to
// tune dense linear algebra", SC 2008).
//
// A CTA of 16 x 8 threads makes a piece of C of 128 rows and 16 columns, a thread one row of it. The thread's 16
// sums stay in registers; each element of A is read once from global memory and used 16 times; a tile of B is in
// shared memory, where all threads read the same element at a time.

#define COLUMNS 16
#define DEPTH 8
#define ROWS (COLUMNS * DEPTH)

// Sizes are multiples of the tiles.
extern "C" __global__ void sgemm_nt(int depth, float alpha, const float *a, int a_pitch, const float *b, int b_pitch,
                                    float beta, float *c, int c_pitch) {
    __shared__ float b_tile[DEPTH][COLUMNS];

    int first_column = blockIdx.y * COLUMNS;
    int row = blockIdx.x * ROWS + threadIdx.y * COLUMNS + threadIdx.x;
    float sums[COLUMNS] = {};
    for (int first = 0; first < depth; first += DEPTH) {
        b_tile[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * b_pitch + first_column + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) {
            float element = a[(first + k) * a_pitch + row];
            for (int column = 0; column < COLUMNS; column++) {
                sums[column] += element * b_tile[k][column];
            }
        }
        // The next tile replaces this one.
        __syncthreads();
    }
    for (int column = 0; column < COLUMNS; column++) {
        float *target = c + (first_column + column) * c_pitch + row;
        *target = beta * *target + alpha * sums[column];
    }
}
