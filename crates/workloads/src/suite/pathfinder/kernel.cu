// The cheapest way down a wall of costs, several rows per launch (a pyramid in shared memory).
//
// A CTA loads a stretch of BLOCK columns and goes `steps` rows down. After each row the outermost cell at either
// end is stale, so only the middle, BLOCK - 2 * steps wide, is written back; the stretches of neighbouring CTAs
// overlap by 2 * steps columns.

#define BLOCK 256

extern "C" __global__ void pathfinder(int steps, const int *wall, const int *source, int *target, int columns,
                                      int first_row) {
    __shared__ int cost[BLOCK];
    __shared__ int next[BLOCK];
    int tx = threadIdx.x;
    int column = (int)blockIdx.x * (BLOCK - 2 * steps) - steps + tx;
    bool in_wall = column >= 0 && column < columns;

    // A way may not leave the wall: at its edges a cell stands for its neighbour outside.
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
