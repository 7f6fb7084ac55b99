// Uses what programs commonly use of the CUDA runtime and verifies each result. Prints the same in every mode; the exit status
// says whether all was right.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

static int failures = 0;
// Whether the device is none of silicon.
static bool simulated = false;

static void expect(bool right, const char *what, int line) {
    std::printf("%-34s %s\n", what, right ? "right" : "WRONG");
    if (!right) {
        std::fprintf(stderr, "line %d: %s; last error: %s\n", line, what, cudaGetErrorString(cudaPeekAtLastError()));
        failures++;
    }
}
#define EXPECT(condition, what) expect(condition, what, __LINE__)
#define OK(call) expect((call) == cudaSuccess, #call, __LINE__)

__constant__ float weights[4];
__device__ int counter;
__managed__ int shared_count = 40;

__global__ void add(float *out, const float *a, const float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = a[i] + b[i];
    }
}

__global__ void weigh(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] * weights[i % 4];
        atomicAdd(&counter, 1);
    }
}

// One partial sum for each block, in dynamic shared memory.
template <typename T>
__global__ void sum(T *partial, const T *in, int n) {
    extern __shared__ unsigned char raw[];
    T *values = reinterpret_cast<T *>(raw);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[threadIdx.x] = i < n ? in[i] : T(0);
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            values[threadIdx.x] += values[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = values[0];
    }
}

__global__ void count_in_managed(int more) {
    shared_count += more;
}

struct Pair {
    double first;
    short second;
};

// A parameter larger than a register, and a block and grid of three dimensions.
__global__ void where(int *out, Pair pair) {
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread + int(pair.first) + pair.second;
}

__global__ void say(int number) {
    printf("a kernel says %d\n", number);
}

__global__ void write_at(int *where) {
    *where = 1;
}

static void CUDART_CB note_callback(cudaStream_t, cudaError_t status, void *data) {
    *static_cast<int *>(data) += status == cudaSuccess ? 1 : 100;
}

static void CUDART_CB note_function(void *data) {
    *static_cast<int *>(data) += 10;
}

static void vectors() {
    const int n = 1000;
    std::vector<float> a(n), b(n), out(n);
    for (int i = 0; i < n; i++) {
        a[i] = float(i);
        b[i] = 0.5f * float(i);
    }
    float *a_at, *b_at, *out_at;
    OK(cudaMalloc(&a_at, n * sizeof(float)));
    OK(cudaMalloc(&b_at, n * sizeof(float)));
    OK(cudaMalloc(&out_at, n * sizeof(float)));
    OK(cudaMemcpy(a_at, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    OK(cudaMemcpy(b_at, b.data(), n * sizeof(float), cudaMemcpyDefault));
    cudaEvent_t start, stop;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    OK(cudaEventRecord(start));
    add<<<(n + 127) / 128, 128>>>(out_at, a_at, b_at, n);
    OK(cudaGetLastError());
    OK(cudaEventRecord(stop));
    OK(cudaEventSynchronize(stop));
    float milliseconds = -1;
    OK(cudaEventElapsedTime(&milliseconds, start, stop));
    EXPECT(milliseconds >= 0 && milliseconds < 1, "time between events");
    OK(cudaMemcpy(out.data(), out_at, n * sizeof(float), cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < n; i++) {
        right = right && out[i] == 1.5f * float(i);
    }
    EXPECT(right, "vectors added");

    double *partial;
    std::vector<double> values(n);
    double expected = 0;
    for (int i = 0; i < n; i++) {
        values[i] = i % 7;
        expected += values[i];
    }
    double *values_at;
    OK(cudaMalloc(&values_at, n * sizeof(double)));
    OK(cudaMalloc(&partial, 8 * sizeof(double)));
    OK(cudaMemcpy(values_at, values.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    sum<double><<<8, 128, 128 * sizeof(double)>>>(partial, values_at, n);
    OK(cudaDeviceSynchronize());
    double partials[8], total = 0;
    OK(cudaMemcpy(partials, partial, sizeof partials, cudaMemcpyDeviceToHost));
    for (double one : partials) {
        total += one;
    }
    EXPECT(total == expected, "a reduction in shared memory");
    for (void *at : {(void *)a_at, (void *)b_at, (void *)out_at, (void *)values_at, (void *)partial}) {
        cudaFree(at);
    }
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(stop));
}

static void symbols() {
    const int n = 64;
    const float by[4] = {1, 2, 3, 4};
    float in[n], out[n], *in_at, *out_at;
    for (int i = 0; i < n; i++) {
        in[i] = float(i);
    }
    OK(cudaMalloc(&in_at, sizeof in));
    OK(cudaMalloc(&out_at, sizeof out));
    OK(cudaMemcpy(in_at, in, sizeof in, cudaMemcpyHostToDevice));
    OK(cudaMemcpyToSymbol(weights, by, sizeof by));
    const int zero = 0;
    OK(cudaMemcpyToSymbol(counter, &zero, sizeof zero));
    weigh<<<2, 32>>>(out_at, in_at, n);
    OK(cudaMemcpy(out, out_at, sizeof out, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < n; i++) {
        right = right && out[i] == in[i] * by[i % 4];
    }
    EXPECT(right, "constants");
    int counted = 0;
    OK(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
    EXPECT(counted == n, "a variable of the device");
    void *address = nullptr;
    size_t size = 0;
    OK(cudaGetSymbolAddress(&address, counter));
    OK(cudaGetSymbolSize(&size, weights));
    EXPECT(address != nullptr && size == sizeof by, "symbols");
    shared_count += 1;
    count_in_managed<<<1, 1>>>(2);
    OK(cudaDeviceSynchronize());
    EXPECT(shared_count == 43, "a managed variable");
    OK(cudaFree(in_at));
    OK(cudaFree(out_at));
}

static void streams() {
    const int n = 256;
    float *pinned, *device, *managed;
    OK(cudaHostAlloc(&pinned, n * sizeof(float), cudaHostAllocDefault));
    OK(cudaMalloc(&device, n * sizeof(float)));
    OK(cudaMallocManaged(&managed, n * sizeof(float)));
    for (int i = 0; i < n; i++) {
        pinned[i] = float(i);
        managed[i] = 1;
    }
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaMemcpyAsync(device, pinned, n * sizeof(float), cudaMemcpyHostToDevice, stream));
    add<<<2, 128, 0, stream>>>(managed, managed, device, n);
    int noted = 0;
    OK(cudaStreamAddCallback(stream, note_callback, &noted, 0));
    OK(cudaLaunchHostFunc(stream, note_function, &noted));
    OK(cudaStreamSynchronize(stream));
    EXPECT(noted == 11, "callbacks");
    bool right = true;
    for (int i = 0; i < n; i++) {
        right = right && managed[i] == float(i) + 1;
    }
    EXPECT(right, "managed memory");
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, managed));
    EXPECT(attributes.type == cudaMemoryTypeManaged, "managed memory is known");
    OK(cudaPointerGetAttributes(&attributes, &noted));
    EXPECT(attributes.type == cudaMemoryTypeUnregistered, "a stack is not");
    void *pooled;
    OK(cudaMallocAsync(&pooled, 1 << 12, stream));
    OK(cudaMemsetAsync(pooled, 0x5a, 1 << 12, stream));
    // The stream does not wait for the legacy one, nor that for it.
    OK(cudaStreamSynchronize(stream));
    unsigned char byte = 0;
    OK(cudaMemcpy(&byte, (char *)pooled + 4095, 1, cudaMemcpyDeviceToHost));
    EXPECT(byte == 0x5a, "memory of a pool");
    OK(cudaFreeAsync(pooled, stream));
    OK(cudaStreamDestroy(stream));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(device));
    OK(cudaFree(managed));
}

static void shapes() {
    const dim3 grid(2, 3, 2), block(4, 2, 2);
    const int n = 12 * 16;
    int *out_at, out[n];
    OK(cudaMalloc(&out_at, sizeof out));
    where<<<grid, block>>>(out_at, Pair{7.0, 5});
    OK(cudaMemcpy(out, out_at, sizeof out, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < n; i++) {
        right = right && out[i] == (i / 16) * 1000 + i % 16 + 12;
    }
    EXPECT(right, "three dimensions");

    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    OK(cudaMemset(out_at, 0, sizeof out));
    OK(cudaLaunchKernelEx(&config, where, out_at, Pair{1.0, 1}));
    OK(cudaMemcpy(out, out_at, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT(out[n - 1] == 11017, "a launch with attributes");
    OK(cudaFree(out_at));

    size_t pitch;
    char *rows;
    OK(cudaMallocPitch(&rows, &pitch, 100, 4));
    char host[4][100], back[4][100];
    for (int i = 0; i < 400; i++) {
        host[i / 100][i % 100] = char(i * 7);
    }
    OK(cudaMemcpy2D(rows, pitch, host, 100, 100, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(back, 100, rows, pitch, 100, 4, cudaMemcpyDeviceToHost));
    EXPECT(std::memcmp(host, back, sizeof host) == 0, "rows");
    OK(cudaFree(rows));
    say<<<1, 1>>>(123);
    OK(cudaDeviceSynchronize());
}

static void device() {
    int count = 0, sms = 0, runtime = 0;
    OK(cudaGetDeviceCount(&count));
    EXPECT(count == 1, "one device");
    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 0));
    OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(properties.multiProcessorCount == sms && sms > 0 && properties.warpSize == 32, "its SMs");
    simulated = std::strncmp(properties.name, "Strata ", 7) == 0;
#ifdef VENDORS_RUNTIME
    // It runs on a GPU, too.
    EXPECT(properties.name[0] != 0 && properties.totalGlobalMem > 0, "its name");
#else
    EXPECT(simulated && properties.totalGlobalMem > 0, "its name");
#endif
    OK(cudaRuntimeGetVersion(&runtime));
    EXPECT(runtime / 1000 == CUDART_VERSION / 1000, "the version that it was built for");
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, add));
    EXPECT(attributes.maxThreadsPerBlock > 0 && attributes.numRegs > 0, "what is known of a kernel");
    int ctas = 0, grid = 0, block = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, add, 128, 0));
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add));
    EXPECT(ctas > 0 && grid > 0 && block % 32 == 0, "occupancy");
    size_t of_all = 0, of_one = 0;
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&of_all, add, ctas, 128));
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&of_one, add, 1, 128));
    EXPECT(of_all > 0 && of_one >= of_all, "shared memory that CTAs have together, and alone");
}

static void errors() {
    add<<<1, 4096>>>(nullptr, nullptr, nullptr, 0);
#ifdef VENDORS_RUNTIME
    // Which error its runtime makes of the driver's depends on the version.
    const cudaError_t too_large = cudaPeekAtLastError();
    EXPECT(too_large == cudaErrorInvalidConfiguration || too_large == cudaErrorInvalidValue, "a block that is too large");
#else
    const cudaError_t too_large = cudaErrorInvalidConfiguration;
    EXPECT(cudaPeekAtLastError() == too_large, "a block that is too large");
#endif
    EXPECT(cudaGetLastError() == too_large, "it is told");
    EXPECT(cudaGetLastError() == cudaSuccess, "and forgotten");
    EXPECT(cudaMemcpy(nullptr, nullptr, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue, "nowhere to copy");
    EXPECT(std::strcmp(cudaGetErrorName(cudaGetLastError()), "cudaErrorInvalidValue") == 0, "its name");
    write_at<<<1, 1>>>(reinterpret_cast<int *>(0x700000000000));
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress, "an address that is none");
    int *address;
    EXPECT(cudaMalloc(&address, 4) == cudaErrorIllegalAddress, "the error sticks");
    OK(cudaDeviceReset());
#ifdef VENDORS_RUNTIME
    // It keeps what the calls before the reset returned until somebody asks.
    cudaGetLastError();
#endif
    EXPECT(cudaGetLastError() == cudaSuccess, "and is gone with a reset");
    // A GPU is of no use to a process that has faulted, reset or not.
    if (simulated) {
        vectors();
    }
}

int main() {
    device();
    vectors();
    symbols();
    streams();
    shapes();
    errors();
    std::printf(failures == 0 ? "all right\n" : "%d wrong\n", failures);
    return failures != 0;
}
