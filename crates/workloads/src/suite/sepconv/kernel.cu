// An image convolved with a separable filter of 2 * RADIUS + 1 taps: along rows, then along columns.
//
// Every thread filters STEPS elements, a block's side apart, out of a tile in shared memory that is a block's side
// longer at both ends. Outside of the image is zero. Widths are multiples of STEPS * ROWS_X, heights of
// STEPS * COLUMNS_Y, so that only the ends of a tile can lie outside.

#define RADIUS 8
#define STEPS 8
#define ROWS_X 16
#define ROWS_Y 4
#define COLUMNS_X 16
#define COLUMNS_Y 8

__constant__ float filter[2 * RADIUS + 1];

extern "C" __global__ void sepconv_rows(float *target, const float *source, int width, int height) {
    __shared__ float tile[ROWS_Y][(STEPS + 2) * ROWS_X];

    int row = blockIdx.y * ROWS_Y + threadIdx.y;
    int first = (int)blockIdx.x * STEPS * ROWS_X + threadIdx.x;
    const float *from = source + row * width;
    float *line = tile[threadIdx.y] + ROWS_X + threadIdx.x;

#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        line[step * ROWS_X] = from[first + step * ROWS_X];
    }
    int left = first - ROWS_X;
    int right = first + STEPS * ROWS_X;
    line[-ROWS_X] = left >= 0 ? from[left] : 0.0f;
    line[STEPS * ROWS_X] = right < width ? from[right] : 0.0f;
    __syncthreads();

#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        float sum = 0.0f;
#pragma unroll
        for (int tap = -RADIUS; tap <= RADIUS; tap++) {
            sum += filter[RADIUS - tap] * line[step * ROWS_X + tap];
        }
        target[row * width + first + step * ROWS_X] = sum;
    }
}

extern "C" __global__ void sepconv_columns(float *target, const float *source, int width, int height) {
    // The tile stands on its side, a line of it per column of the image; one word more than needed, against bank
    // conflicts.
    __shared__ float tile[COLUMNS_X][(STEPS + 2) * COLUMNS_Y + 1];

    int column = blockIdx.x * COLUMNS_X + threadIdx.x;
    int first = (int)blockIdx.y * STEPS * COLUMNS_Y + threadIdx.y;
    const float *from = source + column;
    float *line = tile[threadIdx.x] + COLUMNS_Y + threadIdx.y;

#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        line[step * COLUMNS_Y] = from[(first + step * COLUMNS_Y) * width];
    }
    int above = first - COLUMNS_Y;
    int below = first + STEPS * COLUMNS_Y;
    line[-COLUMNS_Y] = above >= 0 ? from[above * width] : 0.0f;
    line[STEPS * COLUMNS_Y] = below < height ? from[below * width] : 0.0f;
    __syncthreads();

#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        float sum = 0.0f;
#pragma unroll
        for (int tap = -RADIUS; tap <= RADIUS; tap++) {
            sum += filter[RADIUS - tap] * line[step * COLUMNS_Y + tap];
        }
        target[(first + step * COLUMNS_Y) * width + column] = sum;
    }
}
