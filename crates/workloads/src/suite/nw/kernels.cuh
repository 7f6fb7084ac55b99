// Needleman-Wunsch alignment as in kernel.cu, over tiles.

#define TILE 16
#define SIDE (TILE + 1)

using Table = LOCAL<int, UPDATES, SIDE, SIDE>;
using Similar = LOCAL<int, READS, TILE, TILE>;

static __device__ void fill_cell(const Table &table, const Similar &similar, int row, int column, int penalty) {
    int match = table(row - 1, column - 1) + similar(row - 1, column - 1);
    int gap = max(table(row, column - 1), table(row - 1, column)) - penalty;
    table(row, column) = max(match, gap);
}

static __device__ void fill_tile(int *table_storage, int *similar_storage, const int *similarity, int *score, int columns,
                                 int penalty, int tile_row, int tile_column) {
    int lane = threadIdx.x;
    int before = (tile_row * columns + tile_column) * TILE;
    Table table(table_storage, 0, score + before, SIDE, SIDE, columns);
    Similar similar(similar_storage, 1, similarity + before + columns + 1, TILE, TILE, columns);
    Cta<TILE>::begin(table, similar);

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

    // The row above and the column before are other tiles'.
    table.end_part<Cta<TILE>>(1, 1, TILE, TILE);
}

extern "C" __global__ void nw_grow(const int *similarity, int *score, int columns, int penalty, int diagonal) {
    __shared__ CHUNK int table[SIDE * SIDE];
    __shared__ CHUNK int similar[TILE * TILE];
    int tile_column = blockIdx.x;
    int tile_row = diagonal - tile_column;
    fill_tile(table, similar, similarity, score, columns, penalty, tile_row, tile_column);
}

extern "C" __global__ void nw_shrink(const int *similarity, int *score, int columns, int penalty, int length,
                                     int tiles) {
    __shared__ CHUNK int table[SIDE * SIDE];
    __shared__ CHUNK int similar[TILE * TILE];
    int tile_column = tiles - length + blockIdx.x;
    int tile_row = tiles - 1 - blockIdx.x;
    fill_tile(table, similar, similarity, score, columns, penalty, tile_row, tile_column);
}
