// B = A convolved with PolyBench's fixed 3x3x3 stencil, one plane i per launch and one thread per element of the
// plane; the border of B is left as it is.
//
// The stencil reads eleven of the 27 neighbours. Two of them, before and after at (j - 1, k - 1), have three weights
// each, which stay three multiplications.
extern "C" __global__ void conv3d(int ni, int nj, int nk, float *a, float *b, int i) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    bool inside = i > 0 && i < ni - 1 && j > 0 && j < nj - 1 && k > 0 && k < nk - 1;
    if (!inside) {
        return;
    }
    const float *here = a + (i * nj + j) * nk + k;
    const float *before = here - nj * nk;
    const float *after = here + nj * nk;

    float corner = before[-nk - 1];
    float far_corner = after[-nk - 1];
    float sum = 2.0f * corner;
    sum += 4.0f * far_corner;
    sum += 5.0f * corner;
    sum += 7.0f * far_corner;
    sum += -8.0f * corner;
    sum += 10.0f * far_corner;
    sum += -3.0f * here[-nk];
    sum += 6.0f * here[0];
    sum += -9.0f * here[nk];
    sum += 2.0f * before[-nk + 1];
    sum += 4.0f * after[-nk + 1];
    sum += 5.0f * before[1];
    sum += 7.0f * after[1];
    sum += -8.0f * before[nk + 1];
    sum += 10.0f * after[nk + 1];
    b[(i * nj + j) * nk + k] = sum;
}
