// Graphs: captured from streams and made node by node, changed and updated. Verifies what it computes.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                       \
    do {                                                                                  \
        cudaError_t error = (call);                                                       \
        if (error != cudaSuccess) {                                                       \
            std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error));   \
            std::exit(1);                                                                 \
        }                                                                                 \
    } while (0)

#define EXPECT(condition)                                                  \
    do {                                                                   \
        if (!(condition)) {                                                \
            std::printf("line %d: expected %s\n", __LINE__, #condition);   \
            std::exit(1);                                                  \
        }                                                                  \
    } while (0)

constexpr int N = 256;

__device__ int offset = 3;
__managed__ int total = 0;

__global__ void scale(int *to, const int *from, int by) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < N) to[at] = from[at] * by + offset;
}

__global__ void add(int *to, const int *a, const int *b) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < N) to[at] = a[at] + b[at];
}

__global__ void sum(const int *from) {
    atomicAdd(&total, from[threadIdx.x]);
}

static void count(void *data) { ++*static_cast<int *>(data); }

static cudaGraphExec_t instantiate(cudaGraph_t graph) {
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    return executable;
}

static void captured() {
    int *in, *left, *right, *out;
    for (int **at : {&in, &left, &right, &out}) CHECK(cudaMalloc(at, N * sizeof(int)));
    std::vector<int> host(N, 1), result(N, -1);
    cudaStream_t one, two;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&two));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    int calls = 0;

    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(in, host.data(), N * sizeof(int), cudaMemcpyHostToDevice, one));
    CHECK(cudaEventRecord(fork, one));
    CHECK(cudaStreamWaitEvent(two, fork, 0));
    scale<<<2, N / 2, 0, one>>>(left, in, 2);
    scale<<<2, N / 2, 0, two>>>(right, in, 10);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(join, two));
    CHECK(cudaStreamWaitEvent(one, join, 0));
    add<<<2, N / 2, 0, one>>>(out, left, right);
    sum<<<1, N, 0, one>>>(out);
    CHECK(cudaMemcpyAsync(result.data(), out, N * sizeof(int), cudaMemcpyDeviceToHost, one));
    CHECK(cudaLaunchHostFunc(one, count, &calls));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(two, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(one, &graph));
    EXPECT(result[0] == -1 && calls == 0);

    size_t nodes;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 7);
    cudaGraphExec_t executable = instantiate(graph);
    CHECK(cudaGraphUpload(executable, one));
    for (int &value : host) value = 5;
    CHECK(cudaGraphLaunch(executable, one));
    CHECK(cudaStreamSynchronize(one));
    EXPECT(result[0] == 66 && result[N - 1] == 66 && calls == 1 && total == 66 * N);
    for (int &value : host) value = 0;
    CHECK(cudaGraphLaunch(executable, one));
    CHECK(cudaStreamSynchronize(one));
    EXPECT(result[7] == 6 && calls == 2 && total == 72 * N);

    // The same again with another factor; then with a node less, which is another form.
    for (int times : {2, 1}) {
        CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
        for (int n = 0; n < times; ++n) scale<<<2, N / 2, 0, one>>>(left, in, 4);
        cudaGraph_t other;
        CHECK(cudaStreamEndCapture(one, &other));
        cudaGraphExecUpdateResult why;
#if CUDART_VERSION >= 12000
        cudaGraphExecUpdateResultInfo info;
        EXPECT(cudaGraphExecUpdate(executable, other, &info) == cudaErrorGraphExecUpdateFailure);
        why = info.result;
#else
        cudaGraphNode_t node;
        EXPECT(cudaGraphExecUpdate(executable, other, &node, &why) == cudaErrorGraphExecUpdateFailure);
#endif
        EXPECT(why == cudaGraphExecUpdateErrorTopologyChanged);
        EXPECT(cudaGetLastError() == cudaErrorGraphExecUpdateFailure);
        CHECK(cudaGraphDestroy(other));
    }

    // What waits for the device ends a capture.
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    EXPECT(cudaStreamSynchronize(one) == cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(one, &graph) == cudaErrorStreamCaptureInvalidated && graph == nullptr);
    cudaGetLastError();
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaDeviceSynchronize());
    std::printf("captured: %d\n", total);
}

static void made_by_hand() {
    int *in, *out;
    CHECK(cudaMalloc(&in, N * sizeof(int)));
    CHECK(cudaMalloc(&out, N * sizeof(int)));
    std::vector<int> result(N);
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));

    cudaGraphNode_t fill, launch, copy, symbol;
    cudaMemsetParams fills = {};
    fills.dst = in;
    fills.value = 7;
    fills.elementSize = sizeof(int);
    fills.width = N;
    fills.height = 1;
    CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &fills));
    int base = 100;
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&symbol, graph, nullptr, 0, offset, &base, sizeof base, 0,
                                         cudaMemcpyHostToDevice));
    int by = 2;
    void *arguments[] = {&out, &in, &by};
    cudaKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void *>(scale);
    kernel.gridDim = dim3(2);
    kernel.blockDim = dim3(N / 2);
    kernel.kernelParams = arguments;
    cudaGraphNode_t before[] = {fill, symbol};
    CHECK(cudaGraphAddKernelNode(&launch, graph, before, 2, &kernel));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &launch, 1, result.data(), out, N * sizeof(int),
                                   cudaMemcpyDeviceToHost));

    cudaKernelNodeParams shown;
    CHECK(cudaGraphKernelNodeGetParams(launch, &shown));
    EXPECT(shown.func == kernel.func && shown.gridDim.x == 2 && shown.blockDim.x == N / 2);
    EXPECT(*static_cast<int *>(shown.kernelParams[2]) == 2);
    cudaMemcpy3DParms copies;
    CHECK(cudaGraphMemcpyNodeGetParams(copy, &copies));
    EXPECT(copies.kind == cudaMemcpyDeviceToHost && copies.extent.width == N * sizeof(int));
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(fill, &type));
    EXPECT(type == cudaGraphNodeTypeMemset);
#if CUDART_VERSION >= 13020
    cudaGraphNodeParams any = {};
    CHECK(cudaGraphNodeGetParams(launch, &any));
    EXPECT(any.type == cudaGraphNodeTypeKernel && any.kernel.gridDim.x == 2);
    EXPECT(any.kernel.functionType != cudaKernelFunctionTypeDeviceEntry || any.kernel.func == kernel.func);
    EXPECT(*static_cast<int *>(any.kernel.kernelParams[2]) == 2);
    CHECK(cudaGraphNodeSetParams(launch, &any));
    CHECK(cudaGraphNodeGetParams(copy, &any));
    EXPECT(any.type == cudaGraphNodeTypeMemcpy && any.memcpy.copyParams.kind == cudaMemcpyDeviceToHost);
    EXPECT(any.memcpy.copyParams.extent.width == N * sizeof(int));
    CHECK(cudaGraphNodeGetParams(fill, &any));
    EXPECT(any.type == cudaGraphNodeTypeMemset && any.memset.dst == in && any.memset.value == 7);
#endif

    cudaGraphExec_t executable = instantiate(graph);
    CHECK(cudaGraphLaunch(executable, 0));
    EXPECT(result[0] == 114 && result[N - 1] == 114);
    by = 3;
    base = 0;
    CHECK(cudaGraphExecKernelNodeSetParams(executable, launch, &kernel));
    CHECK(cudaGraphLaunch(executable, 0));
    EXPECT(result[9] == 21);
    fills.value = 1;
    CHECK(cudaGraphExecMemsetNodeSetParams(executable, fill, &fills));
    CHECK(cudaGraphLaunch(executable, 0));
    EXPECT(result[9] == 3);

    // A graph as a node of another; a copy of that one.
    cudaGraph_t outer, clone;
    CHECK(cudaGraphCreate(&outer, 0));
    cudaGraphNode_t child;
    CHECK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
    CHECK(cudaGraphClone(&clone, outer));
    CHECK(cudaGraphDestroy(outer));
    result.assign(N, 0);
    CHECK(cudaGraphLaunch(instantiate(clone), 0));
    EXPECT(result[9] == 14);
    std::printf("made by hand: %d\n", result[0]);
}

static void memory() {
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int *at;
    std::vector<int> result(N);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMallocAsync(&at, N * sizeof(int), stream));
    CHECK(cudaMemsetAsync(at, 1, N * sizeof(int), stream));
    CHECK(cudaMemcpyAsync(result.data(), at, N * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(at, stream));
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable = instantiate(graph);
    for (int n = 0; n < 2; ++n) CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(result[0] == 0x01010101);
    std::printf("memory: %x\n", result[N - 1]);
}

int main() {
    captured();
    made_by_hand();
    memory();
}
