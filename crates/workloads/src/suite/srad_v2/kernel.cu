// Speckle reducing anisotropic diffusion (SRAD), a pixel per thread, in tiles of shared memory.
//
// The image lies row by row; TILE divides both of its sides. Constants of the formulas are doubles, as in Rodinia,
// so parts of them are computed in f64.

#define TILE 16

struct Differences {
    float north, south, west, east;
};

// The differences to the four neighbours, and how freely the pixel diffuses: little where the image varies more
// than speckle (q0sqr) does, that is at edges.
extern "C" __global__ void srad_gradient(float *east, float *west, float *north, float *south, float *image,
                                         float *coefficient, int columns, int rows, float q0sqr) {
    __shared__ float tile[TILE][TILE];
    __shared__ float result[TILE][TILE];
    __shared__ float above[TILE][TILE];
    __shared__ float below[TILE][TILE];
    __shared__ float right[TILE][TILE];
    __shared__ float left[TILE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int first_row = blockIdx.y * TILE;
    int first_column = blockIdx.x * TILE;
    int row = first_row + ty;
    int column = first_column + tx;
    int at = row * columns + column;

    // Every thread loads a pixel of each of the four strips around the tile, though each strip has only TILE of them:
    // the rows of threads load the strips above and below again and again, the columns those at the sides.
    // Beyond the image's border lies the border's own pixel.
    int row_above = max(first_row - 1, 0);
    int row_below = min(first_row + TILE, rows - 1);
    above[ty][tx] = image[row_above * columns + column];
    below[ty][tx] = image[row_below * columns + column];
    __syncthreads();
    int column_left = max(first_column - 1, 0);
    int column_right = min(first_column + TILE, columns - 1);
    left[ty][tx] = image[row * columns + column_left];
    right[ty][tx] = image[row * columns + column_right];
    __syncthreads();
    tile[ty][tx] = image[at];
    __syncthreads();

    float here = tile[ty][tx];
    Differences to;
    if (ty == 0) {
        if (tx == 0) {
            to = {above[ty][tx] - here, tile[ty + 1][tx] - here, left[ty][tx] - here, tile[ty][tx + 1] - here};
        } else if (tx == TILE - 1) {
            to = {above[ty][tx] - here, tile[ty + 1][tx] - here, tile[ty][tx - 1] - here, right[ty][tx] - here};
        } else {
            to = {above[ty][tx] - here, tile[ty + 1][tx] - here, tile[ty][tx - 1] - here, tile[ty][tx + 1] - here};
        }
    } else if (ty == TILE - 1) {
        if (tx == 0) {
            to = {tile[ty - 1][tx] - here, below[ty][tx] - here, left[ty][tx] - here, tile[ty][tx + 1] - here};
        } else if (tx == TILE - 1) {
            to = {tile[ty - 1][tx] - here, below[ty][tx] - here, tile[ty][tx - 1] - here, right[ty][tx] - here};
        } else {
            to = {tile[ty - 1][tx] - here, below[ty][tx] - here, tile[ty][tx - 1] - here, tile[ty][tx + 1] - here};
        }
    } else if (tx == 0) {
        to = {tile[ty - 1][tx] - here, tile[ty + 1][tx] - here, left[ty][tx] - here, tile[ty][tx + 1] - here};
    } else if (tx == TILE - 1) {
        to = {tile[ty - 1][tx] - here, tile[ty + 1][tx] - here, tile[ty][tx - 1] - here, right[ty][tx] - here};
    } else {
        to = {tile[ty - 1][tx] - here, tile[ty + 1][tx] - here, tile[ty][tx - 1] - here, tile[ty][tx + 1] - here};
    }

    float squares = to.north * to.north + to.south * to.south + to.west * to.west + to.east * to.east;
    float gradient2 = squares / (here * here);
    float laplacian = (to.north + to.south + to.west + to.east) / here;
    float numerator = 0.5 * gradient2 - (1.0 / 16.0) * (laplacian * laplacian);
    float denominator = 1 + 0.25 * laplacian;
    float qsqr = numerator / (denominator * denominator);
    float excess = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
    float c = 1.0 / (1.0 + excess);
    if (c < 0) {
        result[ty][tx] = 0;
    } else if (c > 1) {
        result[ty][tx] = 1;
    } else {
        result[ty][tx] = c;
    }
    __syncthreads();

    coefficient[at] = result[ty][tx];
    east[at] = to.east;
    west[at] = to.west;
    south[at] = to.south;
    north[at] = to.north;
}

// Lets the image diffuse for one time step of length `lambda`.
extern "C" __global__ void srad_update(float *east, float *west, float *north, float *south, float *image,
                                       float *coefficient, int columns, int rows, float lambda) {
    __shared__ float c[TILE][TILE];
    __shared__ float c_below[TILE][TILE];
    __shared__ float c_right[TILE][TILE];
    __shared__ float old[TILE][TILE];
    __shared__ float updated[TILE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int first_row = blockIdx.y * TILE;
    int first_column = blockIdx.x * TILE;
    int row = first_row + ty;
    int column = first_column + tx;
    int at = row * columns + column;

    old[ty][tx] = image[at];
    __syncthreads();
    int row_below = min(first_row + TILE, rows - 1);
    c_below[ty][tx] = coefficient[row_below * columns + column];
    __syncthreads();
    int column_right = min(first_column + TILE, columns - 1);
    c_right[ty][tx] = coefficient[row * columns + column_right];
    __syncthreads();
    c[ty][tx] = coefficient[at];
    __syncthreads();

    float here = c[ty][tx];
    float to_south, to_east;
    if (ty == TILE - 1) {
        to_south = c_below[ty][tx];
        to_east = tx == TILE - 1 ? c_right[ty][tx] : c[ty][tx + 1];
    } else if (tx == TILE - 1) {
        to_south = c[ty + 1][tx];
        to_east = c_right[ty][tx];
    } else {
        to_south = c[ty + 1][tx];
        to_east = c[ty][tx + 1];
    }
    float divergence = here * north[at] + to_south * south[at] + here * west[at] + to_east * east[at];
    updated[ty][tx] = old[ty][tx] + 0.25 * lambda * divergence;
    __syncthreads();
    image[at] = updated[ty][tx];
}
