// Stash: the first plane is mapped, non-coherent, so that the planes that replace it stay with the CTA.

#include "tiles.cuh"

#define X 32
#define Y 4
#define WIDTH (2 * X)

// Only the tile's points on the grid are mapped, row by row.
extern "C" __global__ void stencil(float c0, float c1, const float *now, float *next, int nx, int ny, int nz) {
    __shared__ CHUNK float storage[WIDTH * Y];

    int layer = nx * ny;
    int first_x = blockIdx.x * WIDTH;
    int first_y = blockIdx.y * Y;
    int columns = min(WIDTH, nx - first_x);
    int rows = min(Y, ny - first_y);
    Mapped<float, READS, Y, WIDTH> plane(storage, 0, now + layer + first_y * nx + first_x, rows, columns, nx);
    int ty = threadIdx.y;
    int y = first_y + ty;
    bool south_end = ty == 0;
    bool north_end = ty == Y - 1;

    int at[2];
    bool on_grid[2];
    bool inner[2];
    float below[2] = {};
    float above[2] = {};
    for (int half = 0; half < 2; half++) {
        int x = first_x + threadIdx.x + half * X;
        at[half] = y * nx + x;
        on_grid[half] = x < nx && y < ny;
        inner[half] = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
        if (on_grid[half]) {
            below[half] = now[at[half]];
        }
    }
    Cta<X, Y>::begin(plane);

    for (int z = 1; z < nz - 1; z++) {
        for (int half = 0; half < 2; half++) {
            int here = at[half] + z * layer;
            int column = threadIdx.x + half * X;
            if (on_grid[half]) {
                above[half] = now[here + layer];
            }
            if (inner[half]) {
                bool west_end = half == 0 && threadIdx.x == 0;
                bool east_end = half == 1 && threadIdx.x == X - 1;
                float north = north_end ? now[here + nx] : plane(ty + 1, column);
                float south = south_end ? now[here - nx] : plane(ty - 1, column);
                float east = east_end ? now[here + 1] : plane(ty, column + 1);
                float west = west_end ? now[here - 1] : plane(ty, column - 1);
                next[here] = (above[half] + below[half] + north + south + east + west) * c1 - plane(ty, column) * c0;
            }
        }
        __syncthreads();
        for (int half = 0; half < 2; half++) {
            int column = threadIdx.x + half * X;
            if (on_grid[half]) {
                below[half] = plane(ty, column);
                plane(ty, column) = above[half];
            }
        }
        __syncthreads();
    }
}
