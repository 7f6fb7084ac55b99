// Cache: global memory for all. A CTA's two rows of costs, which the original keeps in shared memory, lie at `rows`.

#define BLOCK 256

extern "C" __global__ void pathfinder(int steps, const int *wall, const int *source, int *target, int columns,
                                      int first_row, int *rows) {
    int tx = threadIdx.x;
    int *cost = rows + blockIdx.x * 2 * BLOCK;
    int *next = cost + BLOCK;
    int column = (int)blockIdx.x * (BLOCK - 2 * steps) - steps + tx;
    bool in_wall = column >= 0 && column < columns;
    int west = column > 0 ? tx - 1 : tx;
    int east = column < columns - 1 ? tx + 1 : tx;

    if (in_wall) {
        cost[tx] = source[column];
    }
    __syncthreads();

    bool fresh = false;
    for (int step = 0; step < steps; step++) {
        fresh = in_wall && tx > step && tx < BLOCK - 1 - step;
        if (fresh) {
            int cheapest = min(cost[west], min(cost[tx], cost[east]));
            next[tx] = cheapest + wall[(first_row + step) * columns + column];
        }
        __syncthreads();
        if (step == steps - 1) {
            break;
        }
        if (fresh) {
            cost[tx] = next[tx];
        }
        __syncthreads();
    }
    if (fresh) {
        target[column] = next[tx];
    }
}
