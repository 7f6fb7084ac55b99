// A time step of a two-dimensional finite-difference time-domain solver (electric fields ex and ey, magnetic field
// hz, nx rows of ny), as three launches with one thread per cell. As in PolyBench ex has ny + 1 values in a row and ey
// nx + 1 rows, so rows of ex begin anywhere in a line.
//
// Pointers may alias as far as the compiler knows, as in PolyBench.

// ey from hz's differences between rows; the first row is the source.
extern "C" __global__ void fdtd_ey(int nx, int ny, float *source, float *ex, float *ey, float *hz, int t) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny) {
        return;
    }
    int cell = i * ny + j;
    if (i == 0) {
        ey[cell] = source[t];
    } else {
        ey[cell] = ey[cell] - 0.5f * (hz[cell] - hz[cell - ny]);
    }
}

// ex from hz's differences inside a row.
extern "C" __global__ void fdtd_ex(int nx, int ny, float *ex, float *ey, float *hz, int t) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < nx && j > 0 && j < ny) {
        int cell = i * ny + j;
        int edge = i * (ny + 1) + j;
        ex[edge] = ex[edge] - 0.5f * (hz[cell] - hz[cell - 1]);
    }
}

// hz from the curl of ex and ey.
extern "C" __global__ void fdtd_hz(int nx, int ny, float *ex, float *ey, float *hz, int t) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < nx && j < ny) {
        int cell = i * ny + j;
        int edge = i * (ny + 1) + j;
        float curl = ex[edge + 1] - ex[edge] + ey[cell + ny] - ey[cell];
        hz[cell] = hz[cell] - 0.7f * curl;
    }
}
