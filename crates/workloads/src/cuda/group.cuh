// After the sort: keys and values are copied into the directory's order, and each run of equal keys is one group.

extern "C" __global__ void take_sizes(int n, const int4 *directory, int of_keys, int *sizes) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) {
        int4 entry = directory[at];
        sizes[at] = of_keys ? entry.y : entry.w;
    }
}

// A thread copies one key or value byte by byte and has its entry point to the copy.
extern "C" __global__ void copy_chunks(int n, int of_keys, const char *source, const int *starts, int4 *directory,
                                       char *target) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) {
        return;
    }
    int4 entry = directory[at];
    int from = of_keys ? entry.x : entry.z;
    int bytes = of_keys ? entry.y : entry.w;
    int to = starts[at];
    for (int i = 0; i < bytes; i++) {
        target[to + i] = source[from + i];
    }
    if (of_keys) {
        entry.x = to;
    } else {
        entry.z = to;
    }
    directory[at] = entry;
}

// 1 where a key differs from the one before.
extern "C" __global__ void mark_groups(INPUT_PARAMETERS int n, const char *keys, const int4 *directory, int *marks) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) {
        marks[at] = at == 0 || compare(INPUT keys + directory[at].x, keys + directory[at - 1].x) != 0;
    }
}

extern "C" __global__ void write_groups(int n, const int *marks, const int *group, int *starts) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n && marks[at] == 1) {
        starts[group[at]] = at;
    }
}

// A group ends where the next begins.
extern "C" __global__ void close_groups(int groups, int n, const int *starts, int2 *ranges) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < groups) {
        ranges[at] = make_int2(starts[at], at + 1 < groups ? starts[at + 1] : n);
    }
}
