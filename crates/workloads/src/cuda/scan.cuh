// Exclusive prefix sums: a tree in shared memory for each piece of the array, then the pieces' starts are added.
// The host scans the pieces' totals in the same way.

#define SCAN_THREADS 128
#define SCAN_PIECE (2 * SCAN_THREADS)

// One unused word after every 32 keeps the tree's strides off one bank.
__device__ inline int apart(int i) {
    return i + (i >> 5);
}

extern "C" __global__ void scan_pieces(int n, const int *values, int *sums, int *totals) {
    __shared__ int tree[SCAN_PIECE + SCAN_PIECE / 32];
    int t = threadIdx.x;
    int low = blockIdx.x * SCAN_PIECE + t;
    int high = low + SCAN_THREADS;
    tree[apart(t)] = low < n ? values[low] : 0;
    tree[apart(t + SCAN_THREADS)] = high < n ? values[high] : 0;

    int stride = 1;
    for (int pairs = SCAN_THREADS; pairs > 0; pairs >>= 1) {
        __syncthreads();
        if (t < pairs) {
            int left = stride * (2 * t + 1) - 1;
            tree[apart(left + stride)] += tree[apart(left)];
        }
        stride *= 2;
    }
    if (t == 0) {
        totals[blockIdx.x] = tree[apart(SCAN_PIECE - 1)];
        tree[apart(SCAN_PIECE - 1)] = 0;
    }
    for (int pairs = 1; pairs <= SCAN_THREADS; pairs <<= 1) {
        stride >>= 1;
        __syncthreads();
        if (t < pairs) {
            int left = stride * (2 * t + 1) - 1;
            int before = tree[apart(left + stride)];
            tree[apart(left + stride)] = before + tree[apart(left)];
            tree[apart(left)] = before;
        }
    }
    __syncthreads();
    if (low < n) {
        sums[low] = tree[apart(t)];
    }
    if (high < n) {
        sums[high] = tree[apart(t + SCAN_THREADS)];
    }
}

extern "C" __global__ void scan_add(int n, const int *starts, int *sums) {
    int start = starts[blockIdx.x];
    int low = blockIdx.x * SCAN_PIECE + threadIdx.x;
    int high = low + SCAN_THREADS;
    if (low < n) {
        sums[low] += start;
    }
    if (high < n) {
        sums[high] += start;
    }
}
