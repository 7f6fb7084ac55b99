// E = A B, F = C D and G = E F, one thread per element of each product.
//
// Pointers may alias as far as the compiler knows, as in PolyBench, so that the element of the product is
// written in every step of the inner loop.

// Lanes of a warp have neighbouring columns: one element of `left` for all, a piece of a row of `right`.
static __device__ __forceinline__ void multiply(int rows, int columns, int depth, const float *left,
                                                const float *right, float *product) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        product[row * columns + column] = 0.0f;
        #pragma unroll 1
        for (int k = 0; k < depth; k++) {
            product[row * columns + column] += left[row * depth + k] * right[k * columns + column];
        }
    }
}

extern "C" __global__ void mm3_e(int ni, int nj, int nk, float *a, float *b, float *e) {
    multiply(ni, nj, nk, a, b, e);
}

extern "C" __global__ void mm3_f(int nj, int nl, int nm, float *c, float *d, float *f) {
    multiply(nj, nl, nm, c, d, f);
}

extern "C" __global__ void mm3_g(int ni, int nl, int nj, float *e, float *f, float *g) {
    multiply(ni, nl, nj, e, f, g);
}
