// A cooperative launch: all blocks of a grid meet again and again, as cooperative groups let them. Verifies what it computes.

#include <cstdio>
#include <vector>

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

constexpr int THREADS = 64, ROUNDS = 4;

// In each round every thread adds what the thread one block further on had in the round before.
__global__ void pass(int *rows, int rounds) {
    auto grid = cg::this_grid();
    int size = int(grid.size()), rank = int(grid.thread_rank()), next = (rank + THREADS) % size;
    for (int round = 0; round < rounds; ++round) {
        const int *from = rows + round % 2 * size;
        int *to = rows + (round + 1) % 2 * size;
        to[rank] = from[rank] + from[next];
        grid.sync();
    }
}

int main() {
    int supported = 0, sms = 0, resident = 0;
    cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, pass, THREADS, 0);
    int blocks = sms * resident, size = blocks * THREADS, rounds = ROUNDS;
    std::vector<int> rows(2 * size);
    for (int at = 0; at < size; ++at) rows[at] = at % 1000;
    std::vector<int> expected = rows;
    for (int round = 0; round < ROUNDS; ++round) {
        std::vector<int> before(expected.begin(), expected.begin() + size);
        for (int at = 0; at < size; ++at) expected[at] = before[at] + before[(at + THREADS) % size];
    }
    int *device;
    cudaMalloc(&device, rows.size() * sizeof(int));
    cudaMemcpy(device, rows.data(), rows.size() * sizeof(int), cudaMemcpyHostToDevice);
    void *arguments[] = {&device, &rounds};
    const void *kernel = reinterpret_cast<const void *>(pass);
    cudaError_t refused = cudaLaunchCooperativeKernel(kernel, dim3(blocks + 1), dim3(THREADS), arguments, 0, 0);
    cudaGetLastError();
    cudaError_t done = cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(THREADS), arguments, 0, 0);
    cudaMemcpy(rows.data(), device, size * sizeof(int), cudaMemcpyDeviceToHost);
    bool right = supported == 1 && refused == cudaErrorCooperativeLaunchTooLarge && done == cudaSuccess;
    for (int at = 0; at < size; ++at) right = right && rows[at] == expected[at];
    std::printf("a grid of %d blocks: %s, %s, %s\n", blocks, cudaGetErrorName(refused), cudaGetErrorName(done),
                right ? "right" : "wrong");
    return right ? 0 : 1;
}
