// C = alpha A B^T + beta C as in kernel.cu, over tiles.

#define COLUMNS 16
#define DEPTH 8
#define ROWS (COLUMNS * DEPTH)

extern "C" __global__ void sgemm_nt(int depth, float alpha, const float *a, int a_pitch, const float *b, int b_pitch,
                                    float beta, float *c, int c_pitch) {
    __shared__ CHUNK float b_storage[DEPTH * COLUMNS];
    __shared__ CHUNK float a_storage[DEPTH * ROWS];
    __shared__ CHUNK float c_storage[COLUMNS * ROWS];
    using Block = Cta<COLUMNS, DEPTH>;

    int first_column = blockIdx.y * COLUMNS;
    int first_row = blockIdx.x * ROWS;
    int row = threadIdx.y * COLUMNS + threadIdx.x;
    // Columns of A and C, rows of B, lie one after the other.
    LOCAL<float, READS, DEPTH, COLUMNS> b_tile(b_storage, 0, b + first_column, DEPTH, COLUMNS, b_pitch);
    REST<float, READS, DEPTH, ROWS> a_tile(a_storage, 1, a + first_row, DEPTH, ROWS, a_pitch);
    REST<float, UPDATES, COLUMNS, ROWS> c_tile(c_storage, 2, c + first_column * c_pitch + first_row, COLUMNS, ROWS, c_pitch);
    float sums[COLUMNS] = {};
    Block::begin(b_tile, a_tile, c_tile);
    for (int first = 0;;) {
        for (int k = 0; k < DEPTH; k++) {
            float element = a_tile(k, row);
            for (int column = 0; column < COLUMNS; column++) {
                sums[column] += element * b_tile(k, column);
            }
        }
        first += DEPTH;
        if (first >= depth) {
            break;
        }
        b_tile.move(b + first * b_pitch + first_column);
        a_tile.move(a + first * a_pitch + first_row);
        Block::again(b_tile, a_tile);
    }
    for (int column = 0; column < COLUMNS; column++) {
        c_tile(column, row) = beta * c_tile(column, row) + alpha * sums[column];
    }
    Block::end(c_tile);
}
