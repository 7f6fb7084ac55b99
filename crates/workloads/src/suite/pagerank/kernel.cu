// PageRank as a product of a sparse matrix with the vector of ranks, a thread per vertex.

extern "C" __global__ void pagerank_init(float *rank, float *sum, int vertices) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices) {
        rank[v] = 1.0f / (float)vertices;
        sum[v] = 0.0f;
    }
}

// What share of its rank each neighbour gives.
extern "C" __global__ void pagerank_weights(const int *row_start, const int *columns, float *weights,
                                            const int *degree, int vertices) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices) {
        int end = row_start[v + 1];
        for (int e = row_start[v]; e < end; e++) {
            weights[e] = 1.0f / (float)degree[columns[e]];
        }
    }
}

// Gathers what the neighbours give: lanes wait for the vertex of highest degree in their warp.
extern "C" __global__ void pagerank_spmv(int vertices, const int *row_start, const int *columns, const float *weights,
                                         const float *rank, float *sum) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices) {
        int end = row_start[v + 1];
        float given = 0.0f;
        for (int e = row_start[v]; e < end; e++) {
            given += weights[e] * rank[columns[e]];
        }
        sum[v] += given;
    }
}

// The new ranks, with the damping factor 0.85.
extern "C" __global__ void pagerank_damp(float *rank, float *sum, int vertices) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices) {
        rank[v] = 0.15f / (float)vertices + 0.85f * sum[v];
        sum[v] = 0.0f;
    }
}
