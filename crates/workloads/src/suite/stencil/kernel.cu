// One step of a 7-point stencil in three dimensions, by planes.
//
// A CTA owns a column of 2 blockDim.x by blockDim.y points through all planes and walks up in z. The plane it works
// on is in shared memory, the planes below and above are in registers: every point is read from global memory once
// per CTA, and once more for each neighbouring CTA whose edge it touches.

// `plane` holds 2 blockDim.x * blockDim.y floats. Points on the surface of the grid are not written.
extern "C" __global__ void stencil(float c0, float c1, const float *now, float *next, int nx, int ny, int nz) {
    extern __shared__ float plane[];

    int width = 2 * blockDim.x;
    int layer = nx * ny;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    bool south_end = threadIdx.y == 0;
    bool north_end = threadIdx.y == blockDim.y - 1;

    // A thread has two points of each plane, blockDim.x apart.
    int place[2];
    int at[2];
    bool on_grid[2];
    bool inner[2];
    float below[2] = {};
    float above[2] = {};
    for (int half = 0; half < 2; half++) {
        int column = threadIdx.x + half * blockDim.x;
        int x = blockIdx.x * width + column;
        place[half] = threadIdx.y * width + column;
        at[half] = y * nx + x;
        on_grid[half] = x < nx && y < ny;
        inner[half] = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
        plane[place[half]] = 0.0f;
        if (on_grid[half]) {
            below[half] = now[at[half]];
            plane[place[half]] = now[at[half] + layer];
        }
    }
    __syncthreads();

    for (int z = 1; z < nz - 1; z++) {
        for (int half = 0; half < 2; half++) {
            int here = at[half] + z * layer;
            if (on_grid[half]) {
                above[half] = now[here + layer];
            }
            if (inner[half]) {
                // What the CTA does not hold comes from global memory.
                bool west_end = half == 0 && threadIdx.x == 0;
                bool east_end = half == 1 && threadIdx.x == blockDim.x - 1;
                float north = north_end ? now[here + nx] : plane[place[half] + width];
                float south = south_end ? now[here - nx] : plane[place[half] - width];
                float east = east_end ? now[here + 1] : plane[place[half] + 1];
                float west = west_end ? now[here - 1] : plane[place[half] - 1];
                next[here] = (above[half] + below[half] + north + south + east + west) * c1
                    - plane[place[half]] * c0;
            }
        }
        __syncthreads();
        for (int half = 0; half < 2; half++) {
            below[half] = plane[place[half]];
            plane[place[half]] = above[half];
        }
        __syncthreads();
    }
}
