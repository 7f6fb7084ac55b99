// LU decomposition as in kernel.cu, over tiles.

#define TILE 16

extern "C" __global__ void lud_diagonal(float *matrix, int n, int offset) {
    __shared__ CHUNK float storage[TILE * TILE];
    LOCAL<float, UPDATES, TILE, TILE> tile(storage, 0, matrix + offset * n + offset, TILE, TILE, n);
    int lane = threadIdx.x;
    Cta<TILE>::begin(tile);

    for (int k = 0; k < TILE - 1; k++) {
        if (lane > k) {
            for (int j = 0; j < k; j++) {
                tile(lane, k) -= tile(lane, j) * tile(j, k);
            }
            tile(lane, k) /= tile(k, k);
        }
        __syncthreads();
        if (lane > k) {
            for (int j = 0; j <= k; j++) {
                tile(k + 1, lane) -= tile(k + 1, j) * tile(j, lane);
            }
        }
        __syncthreads();
    }

    Cta<TILE>::end(tile);
}

extern "C" __global__ void lud_perimeter(float *matrix, int n, int offset) {
    __shared__ CHUNK float diagonal_storage[TILE * TILE];
    __shared__ CHUNK float right_storage[TILE * TILE];
    __shared__ CHUNK float below_storage[TILE * TILE];
    int away = (blockIdx.x + 1) * TILE;
    const float *corner = matrix + offset * n + offset;
    LOCAL<float, READS, TILE, TILE> diagonal(diagonal_storage, 0, corner, TILE, TILE, n);
    LOCAL<float, UPDATES, TILE, TILE> right(right_storage, 1, corner + away, TILE, TILE, n);
    LOCAL<float, UPDATES, TILE, TILE> below(below_storage, 2, corner + away * n, TILE, TILE, n);
    bool solves_right = threadIdx.x < TILE;
    int lane = solves_right ? threadIdx.x : threadIdx.x - TILE;
    Cta<2 * TILE>::begin(diagonal, right, below);

    if (solves_right) {
        for (int row = 1; row < TILE; row++) {
            for (int k = 0; k < row; k++) {
                right(row, lane) -= diagonal(row, k) * right(k, lane);
            }
        }
    } else {
        for (int column = 0; column < TILE; column++) {
            for (int k = 0; k < column; k++) {
                below(lane, column) -= below(lane, k) * diagonal(k, column);
            }
            below(lane, column) /= diagonal(column, column);
        }
    }

    Cta<2 * TILE>::end(right, below);
}

extern "C" __global__ void lud_internal(float *matrix, int n, int offset) {
    __shared__ CHUNK float above_storage[TILE * TILE];
    __shared__ CHUNK float left_storage[TILE * TILE];
    __shared__ CHUNK float target_storage[TILE * TILE];
    int row = offset + (blockIdx.y + 1) * TILE;
    int column = offset + (blockIdx.x + 1) * TILE;
    LOCAL<float, READS, TILE, TILE> above(above_storage, 0, matrix + offset * n + column, TILE, TILE, n);
    LOCAL<float, READS, TILE, TILE> left(left_storage, 1, matrix + row * n + offset, TILE, TILE, n);
    REST<float, UPDATES, TILE, TILE> target(target_storage, 2, matrix + row * n + column, TILE, TILE, n);
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    Cta<TILE, TILE>::begin(above, left, target);

    float sum = 0.0f;
    for (int k = 0; k < TILE; k++) {
        sum += left(ty, k) * above(k, tx);
    }
    target(ty, tx) -= sum;

    Cta<TILE, TILE>::end(target);
}
