// The sort: a bitonic network over the directory, padded to a power of two with entries that sort first.
// Keys stay where they are; every comparison reads them through the entries.
//
// A program defines compare(INPUT_PARAMETERS a, b) for two keys: below, at or above zero.

#define SORT_THREADS 256

// Padding comes first; equal keys keep the order in which map emitted them.
__device__ inline int order(INPUT_PARAMETERS const char *keys, int4 a, int4 b) {
    if (a.x < 0 || b.x < 0) {
        return (a.x >= 0) - (b.x >= 0);
    }
    int by_key = compare(INPUT keys + a.x, keys + b.x);
    return by_key != 0 ? by_key : a.x - b.x;
}

extern "C" __global__ void sort_load(int n, int padded, const int4 *directory, int4 *sorted) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < padded) {
        sorted[at] = at < n ? directory[at] : make_int4(-1, -1, -1, -1);
    }
}

// The network's steps of one stage whose partners are all in the CTA.
__device__ inline void sort_steps(INPUT_PARAMETERS const char *keys, int4 *entries, int stage, int distance) {
    int t = threadIdx.x;
    bool ascending = ((blockIdx.x * SORT_THREADS + t) & stage) == 0;
#pragma unroll 1
    for (; distance > 0; distance >>= 1) {
        int partner = t ^ distance;
        if (partner > t) {
            int4 mine = entries[t];
            int4 other = entries[partner];
            int found = order(INPUT keys, mine, other);
            if (ascending ? found > 0 : found < 0) {
                entries[t] = other;
                entries[partner] = mine;
            }
        }
        __syncthreads();
    }
}

// Sorts each CTA's entries, up and down by turns.
extern "C" __global__ void sort_units(INPUT_PARAMETERS const char *keys, int4 *sorted) {
    __shared__ int4 entries[SORT_THREADS];
    int at = blockIdx.x * SORT_THREADS + threadIdx.x;
    entries[threadIdx.x] = sorted[at];
    __syncthreads();
#pragma unroll 1
    for (int stage = 2; stage <= SORT_THREADS; stage *= 2) {
        sort_steps(INPUT keys, entries, stage, stage / 2);
    }
    sorted[at] = entries[threadIdx.x];
}

// One step whose partners are in other CTAs.
extern "C" __global__ void sort_step(INPUT_PARAMETERS const char *keys, int4 *sorted, int stage, int distance) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int partner = at ^ distance;
    if (partner > at) {
        int4 mine = sorted[at];
        int4 other = sorted[partner];
        int found = order(INPUT keys, mine, other);
        if ((at & stage) == 0 ? found > 0 : found < 0) {
            sorted[at] = other;
            sorted[partner] = mine;
        }
    }
}

// The last steps of a stage, in shared memory.
extern "C" __global__ void sort_parts(INPUT_PARAMETERS const char *keys, int4 *sorted, int stage) {
    __shared__ int4 entries[SORT_THREADS];
    int at = blockIdx.x * SORT_THREADS + threadIdx.x;
    entries[threadIdx.x] = sorted[at];
    __syncthreads();
    sort_steps(INPUT keys, entries, stage, SORT_THREADS / 2);
    sorted[at] = entries[threadIdx.x];
}
