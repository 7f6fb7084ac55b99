// LU decomposition in place, without pivoting, tile by tile: L below the diagonal (its own diagonal is all ones),
// U on and above it. Three launches finish one row and one column of tiles.

#define TILE 16

// Decomposes one tile of the diagonal: column k of L, then row k + 1 of U.
extern "C" __global__ void lud_diagonal(float *matrix, int n, int offset) {
    __shared__ float tile[TILE][TILE];
    int lane = threadIdx.x;
    float *corner = matrix + offset * n + offset;

    for (int row = 0; row < TILE; row++) {
        tile[row][lane] = corner[row * n + lane];
    }
    __syncthreads();

    for (int k = 0; k < TILE - 1; k++) {
        if (lane > k) {
            for (int j = 0; j < k; j++) {
                tile[lane][k] -= tile[lane][j] * tile[j][k];
            }
            tile[lane][k] /= tile[k][k];
        }
        __syncthreads();
        if (lane > k) {
            for (int j = 0; j <= k; j++) {
                tile[k + 1][lane] -= tile[k + 1][j] * tile[j][lane];
            }
        }
        __syncthreads();
    }

    // U's first row is the matrix's own.
    for (int row = 1; row < TILE; row++) {
        corner[row * n + lane] = tile[row][lane];
    }
}

// Solves for one tile to the right of the diagonal (threads 0 to 15, a column each) and for one below it (threads
// 16 to 31, a row each).
extern "C" __global__ void lud_perimeter(float *matrix, int n, int offset) {
    __shared__ float diagonal[TILE][TILE];
    __shared__ float right[TILE][TILE];
    __shared__ float below[TILE][TILE];
    bool solves_right = threadIdx.x < TILE;
    int lane = solves_right ? threadIdx.x : threadIdx.x - TILE;
    int away = (blockIdx.x + 1) * TILE;
    float *corner = matrix + offset * n + offset;
    float *right_corner = corner + away;
    float *below_corner = corner + away * n;

    // Each half also loads half of the diagonal tile.
    if (solves_right) {
        for (int row = 0; row < TILE / 2; row++) {
            diagonal[row][lane] = corner[row * n + lane];
        }
        for (int row = 0; row < TILE; row++) {
            right[row][lane] = right_corner[row * n + lane];
        }
    } else {
        for (int row = TILE / 2; row < TILE; row++) {
            diagonal[row][lane] = corner[row * n + lane];
        }
        for (int row = 0; row < TILE; row++) {
            below[row][lane] = below_corner[row * n + lane];
        }
    }
    __syncthreads();

    if (solves_right) {
        for (int row = 1; row < TILE; row++) {
            for (int k = 0; k < row; k++) {
                right[row][lane] -= diagonal[row][k] * right[k][lane];
            }
        }
    } else {
        for (int column = 0; column < TILE; column++) {
            for (int k = 0; k < column; k++) {
                below[lane][column] -= below[lane][k] * diagonal[k][column];
            }
            below[lane][column] /= diagonal[column][column];
        }
    }
    __syncthreads();

    if (solves_right) {
        for (int row = 1; row < TILE; row++) {
            right_corner[row * n + lane] = right[row][lane];
        }
    } else {
        for (int row = 0; row < TILE; row++) {
            below_corner[row * n + lane] = below[row][lane];
        }
    }
}

// Takes the product of the finished column and row of tiles from one of the tiles that are left.
extern "C" __global__ void lud_internal(float *matrix, int n, int offset) {
    __shared__ float above[TILE][TILE];
    __shared__ float left[TILE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = offset + (blockIdx.y + 1) * TILE + ty;
    int column = offset + (blockIdx.x + 1) * TILE + tx;

    above[ty][tx] = matrix[(offset + ty) * n + column];
    left[ty][tx] = matrix[row * n + offset + tx];
    __syncthreads();

    float sum = 0.0f;
    for (int k = 0; k < TILE; k++) {
        sum += left[ty][k] * above[k][tx];
    }
    matrix[row * n + column] -= sum;
}
