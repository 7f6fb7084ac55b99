// The cheapest way down a wall as in kernel.cu, over tiles. A tile is the part of a row that lies in the wall. The last row takes
// the place of the one before.

#define BLOCK 256

using Block = Cta<BLOCK>;

extern "C" __global__ void pathfinder(int steps, const int *wall, const int *source, int *target, int columns,
                                      int first_row) {
    __shared__ CHUNK int cost_storage[BLOCK];
    __shared__ CHUNK int wall_storage[BLOCK];
    __shared__ CHUNK int next[BLOCK];
    int tx = threadIdx.x;
    int first = (int)blockIdx.x * (BLOCK - 2 * steps) - steps;
    int from = max(first, 0);
    int count = min(first + BLOCK, columns) - from;
    int kept = first + steps;
    int kept_count = min(first + BLOCK - steps, columns) - kept;
    LOCAL<int, READS, 1, BLOCK> cost(cost_storage, 0, source + from, 1, count, count);
    REST<int, READS, 1, BLOCK> price(wall_storage, 1, wall + first_row * columns + from, 1, count, count);
    Block::begin(cost, price);

    int column = first + tx;
    bool in_wall = column >= 0 && column < columns;
    int at = column - from;
    int west = column > 0 ? at - 1 : at;
    int east = column < columns - 1 ? at + 1 : at;

    bool fresh = false;
    for (int step = 0; step < steps; step++) {
        fresh = in_wall && tx > step && tx < BLOCK - 1 - step;
        if (fresh) {
            int cheapest = min(cost(0, west), min(cost(0, at), cost(0, east)));
            next[tx] = cheapest + price(0, at);
        }
        __syncthreads();
        if (step == steps - 1) {
            break;
        }
        if (fresh) {
            cost(0, at) = next[tx];
        }
        price.move(price.global + columns);
        Block::change(price);
        __syncthreads();
    }
    REST<int, WRITES, 1, BLOCK> result(cost_storage, 0, target + kept, 1, kept_count, kept_count);
    Block::again(result);
    if (fresh) {
        result(0, column - kept) = next[tx];
    }
    Block::end(result);
}
