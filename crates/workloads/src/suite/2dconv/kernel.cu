// B = A convolved with a fixed 3x3 stencil, one thread per element; the border of B is left as it is.
extern "C" __global__ void conv2d(int ni, int nj, float *a, float *b) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || i >= ni - 1 || j < 1 || j >= nj - 1) {
        return;
    }
    const float *above = a + (i - 1) * nj + j;
    const float *here = a + i * nj + j;
    const float *below = a + (i + 1) * nj + j;
    float sum = 0.2f * above[-1];
    sum += 0.5f * here[-1];
    sum += -0.8f * below[-1];
    sum += -0.3f * above[0];
    sum += 0.6f * here[0];
    sum += -0.9f * below[0];
    sum += 0.4f * above[1];
    sum += 0.7f * here[1];
    sum += 0.1f * below[1];
    b[i * nj + j] = sum;
}
