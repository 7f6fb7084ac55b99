// One level of a level-synchronous breadth-first search over a graph in CSR form.
//
// Several threads may reach one vertex in the same level; all of them write the same cost.

// Every vertex of the frontier gives its unvisited neighbours a cost and marks them.
extern "C" __global__ void bfs_expand(int vertices, const int *row_start, const int *edges, unsigned char *frontier,
                                      unsigned char *marked, const unsigned char *visited, int *cost) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices || !frontier[v]) {
        return;
    }
    frontier[v] = 0;
    for (int e = row_start[v]; e < row_start[v + 1]; e++) {
        int neighbour = edges[e];
        if (!visited[neighbour]) {
            cost[neighbour] = cost[v] + 1;
            marked[neighbour] = 1;
        }
    }
}

// The marked vertices become the next frontier; `*again` is set when there is one.
extern "C" __global__ void bfs_advance(int vertices, unsigned char *frontier, unsigned char *marked,
                                       unsigned char *visited, int *again) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices && marked[v]) {
        frontier[v] = 1;
        visited[v] = 1;
        marked[v] = 0;
        *again = 1;
    }
}
