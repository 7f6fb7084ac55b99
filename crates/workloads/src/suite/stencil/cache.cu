// Cache: global memory for all. The plane that the original keeps in shared memory is read where it lies.

extern "C" __global__ void stencil(float c0, float c1, const float *now, float *next, int nx, int ny, int nz) {
    int width = 2 * blockDim.x;
    int layer = nx * ny;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    int at[2];
    bool on_grid[2];
    bool inner[2];
    float below[2] = {};
    float above[2] = {};
    for (int half = 0; half < 2; half++) {
        int x = blockIdx.x * width + threadIdx.x + half * blockDim.x;
        at[half] = y * nx + x;
        on_grid[half] = x < nx && y < ny;
        inner[half] = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
        if (on_grid[half]) {
            below[half] = now[at[half]];
        }
    }

    for (int z = 1; z < nz - 1; z++) {
        for (int half = 0; half < 2; half++) {
            int here = at[half] + z * layer;
            if (on_grid[half]) {
                above[half] = now[here + layer];
            }
            if (inner[half]) {
                next[here] = (above[half] + below[half] + now[here + nx] + now[here - nx] + now[here + 1] + now[here - 1])
                        * c1
                    - now[here] * c0;
            }
            if (on_grid[half]) {
                below[half] = now[here];
            }
        }
    }
}
