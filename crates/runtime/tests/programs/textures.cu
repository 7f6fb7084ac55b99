// Texture objects of an array and of linear memory, and a surface.

#include <cstdio>

#include <cuda_runtime.h>

__global__ void sample(float *out, cudaTextureObject_t picture, cudaTextureObject_t line, int width, int height) {
    int x = threadIdx.x, y = threadIdx.y;
    float between = tex2D<float>(picture, x + 1.0f, y + 0.5f);
    out[y * width + x] = between + tex1Dfetch<float>(line, x);
}

int main() {
    const int width = 16, height = 8;
    float picture[height][width], line[width], out[height][width], *line_at, *out_at;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            picture[y][x] = float(10 * y + 2 * x);
            line[x] = 1000.0f * float(x);
        }
    }
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    bool right = cudaMallocArray(&array, &channels, width, height) == cudaSuccess;
    const size_t row = width * sizeof(float);
    right = right && cudaMemcpy2DToArray(array, 0, 0, picture, row, row, height, cudaMemcpyHostToDevice) == cudaSuccess;
    right = right && cudaMalloc(&line_at, sizeof line) == cudaSuccess && cudaMalloc(&out_at, sizeof out) == cudaSuccess;
    right = right && cudaMemcpy(line_at, line, sizeof line, cudaMemcpyHostToDevice) == cudaSuccess;
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t of_array, of_line;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    right = right && cudaCreateTextureObject(&of_array, &resource, &how, nullptr) == cudaSuccess;
    resource = {};
    how = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = line_at;
    resource.res.linear.desc = channels;
    resource.res.linear.sizeInBytes = sizeof line;
    right = right && cudaCreateTextureObject(&of_line, &resource, &how, nullptr) == cudaSuccess;
    if (right) {
        sample<<<1, dim3(width, height)>>>(out_at, of_array, of_line, width, height);
        right = cudaMemcpy(out, out_at, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess;
    }
    for (int y = 0; right && y < height; y++) {
        for (int x = 0; right && x < width; x++) {
            // Halfway to the neighbour, or at the border that is clamped to.
            float between = x + 1 < width ? picture[y][x] + 1.0f : picture[y][x];
            right = out[y][x] == between + line[x];
        }
    }
    std::printf("textures: %s (%s)\n", right ? "right" : "WRONG", cudaGetErrorString(cudaGetLastError()));
    return !right;
}
