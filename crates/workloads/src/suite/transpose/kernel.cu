// Out = In^T through a tile in shared memory, so that both reads and writes are coalesced.

#define TILE 32
#define BLOCK_ROWS 8

extern "C" __global__ void transpose(int rows, int columns, const unsigned *in, unsigned *out) {
    // One column more than needed: without it a column of the tile lies in a single bank.
    __shared__ unsigned tile[TILE][TILE + 1];

    int column = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += BLOCK_ROWS) {
        if (row + k < rows && column < columns) {
            tile[threadIdx.y + k][threadIdx.x] = in[(row + k) * columns + column];
        }
    }
    __syncthreads();

    int out_column = blockIdx.y * TILE + threadIdx.x;
    int out_row = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += BLOCK_ROWS) {
        if (out_row + k < columns && out_column < rows) {
            out[(out_row + k) * rows + out_column] = tile[threadIdx.x][threadIdx.y + k];
        }
    }
}
