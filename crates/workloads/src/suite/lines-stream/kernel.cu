// Warps read all lines of 32 words, several times: warp w the lines w, w + warps, ... Loads go past the L1D (.cg).
extern "C" __global__ void lines_stream(const unsigned *words, unsigned *sums, unsigned lines, unsigned passes) {
    unsigned lane = threadIdx.x & 31;
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, warps = (gridDim.x * blockDim.x) >> 5;
    unsigned sum = 0;
    for (unsigned pass = 0; pass < passes; pass++) {
        for (unsigned line = warp; line < lines; line += warps) {
            sum += __ldcg(&words[line * 32 + lane]) ^ pass;
        }
    }
    sums[warp * 32 + lane] = sum;
}
