// An array with levels of detail: filled by copies and by surfaces, sampled by a texture object. Verifies what it computes.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t error = (call);                                                     \
        if (error != cudaSuccess) {                                                     \
            std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error)); \
            std::exit(1);                                                               \
        }                                                                               \
    } while (0)

#define EXPECT(condition)                                                \
    do {                                                                 \
        if (!(condition)) {                                              \
            std::printf("line %d: expected %s\n", __LINE__, #condition); \
            std::exit(1);                                                \
        }                                                                \
    } while (0)

constexpr int WIDTH = 16, HEIGHT = 8, LEVELS = 5, FETCHES = 16;

__global__ void fill(cudaSurfaceObject_t level, float value) {
    surf2Dwrite(value, level, threadIdx.x * sizeof(float), threadIdx.y);
}

// Thread n fetches level n / 4, between the texels of the nearest levels.
__global__ void fetch(float *out, cudaTextureObject_t texture) {
    out[threadIdx.x] = tex2DLod<float>(texture, 0.5f, 0.5f, 0.25f * threadIdx.x);
}

int main() {
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaMipmappedArray_t whole;
    // More levels than there are.
    CHECK(cudaMallocMipmappedArray(&whole, &channels, make_cudaExtent(WIDTH, HEIGHT, 0), 99, cudaArraySurfaceLoadStore));
    cudaArray_t none;
    EXPECT(cudaGetMipmappedArrayLevel(&none, whole, LEVELS) != cudaSuccess);
    cudaGetLastError();

    // Level n holds the nth power of ten: the first by a copy, the others by surfaces.
    for (int n = 0; n < LEVELS; n++) {
        cudaArray_t level;
        CHECK(cudaGetMipmappedArrayLevel(&level, whole, n));
        cudaExtent extent;
        CHECK(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
        int width = WIDTH >> n, height = HEIGHT >> n > 0 ? HEIGHT >> n : 1;
        EXPECT(extent.width == size_t(width) && extent.height == size_t(height) && extent.depth == 0);
        std::vector<float> texels(width * height, 1.0f);
        const size_t row = width * sizeof(float);
        if (n == 0) {
            CHECK(cudaMemcpy2DToArray(level, 0, 0, texels.data(), row, row, height, cudaMemcpyHostToDevice));
            continue;
        }
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = level;
        cudaSurfaceObject_t surface;
        CHECK(cudaCreateSurfaceObject(&surface, &resource));
        fill<<<1, dim3(width, height)>>>(surface, std::pow(10.0f, float(n)));
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy2DFromArray(texels.data(), row, level, 0, 0, row, height, cudaMemcpyDeviceToHost));
        for (float texel : texels) EXPECT(texel == std::pow(10.0f, float(n)));
        CHECK(cudaDestroySurfaceObject(surface));
    }

    cudaResourceDesc resource = {}, resource_said = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = whole;
    cudaTextureDesc how = {}, how_said = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = how.mipmapFilterMode = cudaFilterModeLinear;
    how.normalizedCoords = 1;
    how.maxMipmapLevelClamp = 3.0f;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    CHECK(cudaGetTextureObjectResourceDesc(&resource_said, texture));
    EXPECT(resource_said.resType == resource.resType && resource_said.res.mipmap.mipmap == whole);
    CHECK(cudaGetTextureObjectTextureDesc(&how_said, texture));
    EXPECT(how_said.mipmapFilterMode == how.mipmapFilterMode && how_said.maxMipmapLevelClamp == 3.0f);
    EXPECT(how_said.normalizedCoords == 1 && how_said.addressMode[1] == cudaAddressModeClamp);

    float *out_at, out[FETCHES];
    CHECK(cudaMalloc(&out_at, sizeof out));
    fetch<<<1, FETCHES>>>(out_at, texture);
    CHECK(cudaMemcpy(out, out_at, sizeof out, cudaMemcpyDeviceToHost));
    for (int n = 0; n < FETCHES; n++) {
        double level = n / 4.0 < 3.0 ? n / 4.0 : 3.0, less = std::floor(level), weight = level - less;
        EXPECT(out[n] == float(std::pow(10.0, less) * (1.0 - weight) + std::pow(10.0, less + 1.0) * weight));
    }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeMipmappedArray(whole));
    CHECK(cudaDeviceSynchronize());
    std::printf("mipmaps: %g %g\n", out[5], out[FETCHES - 1]);
}
