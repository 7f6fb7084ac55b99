// Needleman-Wunsch alignment: a table of scores filled tile by tile, one anti-diagonal of tiles per launch.
//
// A cell follows from three neighbours: the one before it in both sequences, plus the similarity of the two
// residues, or one of the other two, less the penalty of a gap.

#define TILE 16

static __device__ void fill_cell(int (*table)[TILE + 1], int (*similar)[TILE], int row, int column, int penalty) {
    int match = table[row - 1][column - 1] + similar[row - 1][column - 1];
    int gap = max(table[row][column - 1], table[row - 1][column]) - penalty;
    table[row][column] = max(match, gap);
}

// One tile, by a CTA of TILE threads. The table has a row above the tile and a column before it, which earlier
// launches finished.
static __device__ void fill_tile(int (*table)[TILE + 1], int (*similar)[TILE], const int *similarity, int *score,
                                 int columns, int penalty, int tile_row, int tile_column) {
    int lane = threadIdx.x;
    int before = (tile_row * columns + tile_column) * TILE;
    int first = before + columns + 1;

    if (lane == 0) {
        table[0][0] = score[before];
    }
    for (int row = 0; row < TILE; row++) {
        similar[row][lane] = similarity[first + row * columns + lane];
    }
    __syncthreads();
    table[lane + 1][0] = score[first - 1 + lane * columns];
    __syncthreads();
    table[0][lane + 1] = score[first - columns + lane];
    __syncthreads();

    // Anti-diagonals of cells: those that begin in the first row, then those that begin in the last column.
    for (int last = 0; last < TILE; last++) {
        if (lane <= last) {
            fill_cell(table, similar, last - lane + 1, lane + 1, penalty);
        }
        __syncthreads();
    }
    for (int last = TILE - 2; last >= 0; last--) {
        if (lane <= last) {
            fill_cell(table, similar, TILE - lane, TILE - last + lane, penalty);
        }
        __syncthreads();
    }

    for (int row = 0; row < TILE; row++) {
        score[first + row * columns + lane] = table[row + 1][lane + 1];
    }
}

// Anti-diagonal `diagonal` of tiles, counted from 0 at the upper left corner, as long as they grow.
extern "C" __global__ void nw_grow(const int *similarity, int *score, int columns, int penalty, int diagonal) {
    __shared__ int table[TILE + 1][TILE + 1];
    __shared__ int similar[TILE][TILE];
    int tile_column = blockIdx.x;
    int tile_row = diagonal - tile_column;
    fill_tile(table, similar, similarity, score, columns, penalty, tile_row, tile_column);
}

// An anti-diagonal of `length` tiles that ends in the last row and the last column of `tiles` x `tiles`.
extern "C" __global__ void nw_shrink(const int *similarity, int *score, int columns, int penalty, int length,
                                     int tiles) {
    __shared__ int table[TILE + 1][TILE + 1];
    __shared__ int similar[TILE][TILE];
    int tile_column = tiles - length + blockIdx.x;
    int tile_row = tiles - 1 - blockIdx.x;
    fill_tile(table, similar, similarity, score, columns, penalty, tile_row, tile_column);
}
