// A launch with clusters of the largest size that fits, whose CTAs read one another's shared memory. Verifies what it computes.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cooperative_groups.h>
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

constexpr unsigned THREADS = 128;

// Each CTA writes what the next of its cluster has in shared memory: that one's number, and the thread's.
__global__ void pass(unsigned *out) {
    auto cluster = cooperative_groups::this_cluster();
    __shared__ unsigned own[THREADS];
    own[threadIdx.x] = 1000 * blockIdx.x + threadIdx.x;
    cluster.sync();
    unsigned *others = cluster.map_shared_rank(own, (cluster.block_rank() + 1) % cluster.num_blocks());
    out[blockIdx.x * THREADS + threadIdx.x] = others[threadIdx.x];
    cluster.sync();
}

int main() {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.blockDim = dim3(THREADS);
    config.attrs = &attribute;
    config.numAttrs = 1;
    int size = 0, clusters = 0;
    CHECK(cudaOccupancyMaxPotentialClusterSize(&size, pass, &config));
    EXPECT(size > 1);
    attribute.val.clusterDim.x = size;
    config.gridDim = dim3(3 * size);
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, pass, &config));
    EXPECT(clusters > 0);

    const unsigned ctas = 3 * size;
    std::vector<unsigned> out(ctas * THREADS);
    unsigned *out_at;
    CHECK(cudaMalloc(&out_at, out.size() * sizeof(unsigned)));
    CHECK(cudaLaunchKernelEx(&config, pass, out_at));
    CHECK(cudaMemcpy(out.data(), out_at, out.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (unsigned cta = 0; cta < ctas; cta++) {
        unsigned next = cta % size + 1 == unsigned(size) ? cta + 1 - size : cta + 1;
        for (unsigned thread = 0; thread < THREADS; thread++) EXPECT(out[cta * THREADS + thread] == 1000 * next + thread);
    }

    // One more than is allowed.
    attribute.val.clusterDim.x = 9;
    EXPECT(cudaOccupancyMaxActiveClusters(&clusters, pass, &config) == cudaErrorInvalidClusterSize);
    std::printf("clusters: %d of them, of %d\n", clusters, size);
}
