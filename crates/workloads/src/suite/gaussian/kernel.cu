// Gaussian elimination without pivoting: two launches clear one column.

// How often the pivot row has to be taken from each row below it.
extern "C" __global__ void gaussian_fan1(float *multipliers, float *a, int n, int step) {
    int below = blockIdx.x * blockDim.x + threadIdx.x;
    if (below >= n - 1 - step) {
        return;
    }
    int row = step + 1 + below;
    multipliers[row * n + step] = a[row * n + step] / a[step * n + step];
}

// Takes the pivot row from the rows below it, and from the right-hand side.
//
// x counts rows and y columns: lanes of a warp that are neighbours in x touch addresses a row apart. The grid
// covers the whole matrix in every step; threads beyond what is left return at once.
extern "C" __global__ void gaussian_fan2(float *multipliers, float *a, float *b, int n, int step) {
    int below = blockIdx.x * blockDim.x + threadIdx.x;
    int right = blockIdx.y * blockDim.y + threadIdx.y;
    if (below >= n - 1 - step || right >= n - step) {
        return;
    }
    int row = step + 1 + below;
    int column = step + right;
    a[row * n + column] -= multipliers[row * n + step] * a[step * n + column];
    if (right == 0) {
        b[row] -= multipliers[row * n + step] * b[step];
    }
}
