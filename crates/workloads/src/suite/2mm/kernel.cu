// C = A B and E = C D, one thread per element of each product.
//
// Pointers may alias as far as the compiler knows, as in PolyBench, so that the element of the product is
// written in every step of the inner loop.

// Lanes of a warp have neighbouring columns: one element of `left` for all, a piece of a row of `right`.
static __device__ __forceinline__ void multiply(int rows, int columns, int depth, const float *left,
                                                const float *right, float *product) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        #pragma unroll 1
        for (int k = 0; k < depth; k++) {
            product[row * columns + column] += left[row * depth + k] * right[k * columns + column];
        }
    }
}

extern "C" __global__ void mm2_c(int ni, int nj, int nk, float *a, float *b, float *c) {
    multiply(ni, nj, nk, a, b, c);
}

extern "C" __global__ void mm2_e(int ni, int nj, int nl, float *c, float *d, float *e) {
    multiply(ni, nl, nj, c, d, e);
}
