// Several time steps of a thermal stencil in one launch (a pyramid of shared-memory tiles).
//
// A CTA loads a TILE x TILE piece of the chip and steps it `steps` times in shared memory. After each step
// the outermost ring of the piece is stale, so only the middle, TILE - 2 * steps wide, is written back; the
// pieces of neighbouring CTAs overlap by 2 * steps cells.

#define TILE 16

extern "C" __global__ void hotspot(int rows, int columns, int steps, const float *power, const float *source,
                                   float *target, float dt_over_cap, float rx_inverse, float ry_inverse,
                                   float rz_inverse, float ambient) {
    __shared__ float temperature[TILE][TILE];
    __shared__ float heat[TILE][TILE];
    __shared__ float next[TILE][TILE];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int useful = TILE - 2 * steps;
    int first_row = blockIdx.y * useful - steps;
    int first_column = blockIdx.x * useful - steps;
    int row = first_row + ty;
    int column = first_column + tx;
    bool on_chip = row >= 0 && row < rows && column >= 0 && column < columns;

    if (on_chip) {
        temperature[ty][tx] = source[row * columns + column];
        heat[ty][tx] = power[row * columns + column];
    }
    __syncthreads();

    // The chip's edge is insulated: a cell there is its own neighbour on the outside.
    int north = row > 0 ? ty - 1 : ty;
    int south = row < rows - 1 ? ty + 1 : ty;
    int west = column > 0 ? tx - 1 : tx;
    int east = column < columns - 1 ? tx + 1 : tx;

    bool fresh = false;
    for (int step = 0; step < steps; step++) {
        fresh = on_chip && tx > step && tx < TILE - 1 - step && ty > step && ty < TILE - 1 - step;
        if (fresh) {
            float t = temperature[ty][tx];
            next[ty][tx] = t + dt_over_cap * (heat[ty][tx]
                + (temperature[south][tx] + temperature[north][tx] - 2.0f * t) * ry_inverse
                + (temperature[ty][east] + temperature[ty][west] - 2.0f * t) * rx_inverse
                + (ambient - t) * rz_inverse);
        }
        __syncthreads();
        if (fresh && step < steps - 1) {
            temperature[ty][tx] = next[ty][tx];
        }
        __syncthreads();
    }
    if (fresh) {
        target[row * columns + column] = next[ty][tx];
    }
}
