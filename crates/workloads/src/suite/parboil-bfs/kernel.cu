// Breadth-first search from one vertex to the next frontier, with queues on three levels: threads append to one of
// eight queues in shared memory, a CTA's queues are joined, and the CTAs' are joined in global memory.
//
// In which order vertices stand in a queue depends on the order of the threads; costs and colours do not.

#define THREADS 512
#define QUEUES 8
#define CAPACITY 400
#define BLACK 16677221

// Threads that differ in their low bits append to different queues, so that fewer of them want the same counter.
struct Queues {
    int length[QUEUES];
    int vertices[QUEUES][CAPACITY];
};

// Gives the neighbours of a vertex their cost. Whoever lowers a cost first in this level appends the neighbour.
__device__ __forceinline__ void visit(int vertex, Queues &queues, const int2 *nodes, const int2 *edges, int *color,
                                      int *cost, int gray, int *overflow) {
    color[vertex] = BLACK;
    int reached = cost[vertex];
    int2 node = __ldg(&nodes[vertex]);
    for (int e = node.x; e < node.x + node.y; e++) {
        int2 edge = __ldg(&edges[e]);
        int candidate = reached + edge.y;
        if (atomicMin(&cost[edge.x], candidate) > candidate && atomicExch(&color[edge.x], gray) != gray) {
            int queue = threadIdx.x % QUEUES;
            int place = atomicAdd(&queues.length[queue], 1);
            if (place < CAPACITY) {
                queues.vertices[queue][place] = edge.x;
            } else {
                *overflow = 1;
            }
        }
    }
}

// Where each queue begins when they are joined, and where all end.
__device__ __forceinline__ void join(const Queues &queues, int *begin) {
    begin[0] = 0;
    for (int queue = 0; queue < QUEUES; queue++) {
        begin[queue + 1] = begin[queue] + queues.length[queue];
    }
}

// All threads copy the queues, one after the other, to `target`.
__device__ __forceinline__ void copy(const Queues &queues, const int *begin, int *target) {
    int queue = threadIdx.x % QUEUES;
    int length = min(queues.length[queue], CAPACITY);
    for (int place = threadIdx.x / QUEUES; place < length; place += THREADS / QUEUES) {
        target[begin[queue] + place] = queues.vertices[queue][place];
    }
}

// One level, by as many CTAs as the frontier fills.
extern "C" __global__ void bfs_level(const int *frontier, int *next, int count, const int2 *nodes, const int2 *edges,
                                     int *color, int *cost, int gray, int *next_count, int *overflow) {
    __shared__ Queues queues;
    __shared__ int begin[QUEUES + 1];
    __shared__ int first;

    if (threadIdx.x < QUEUES) {
        queues.length[threadIdx.x] = 0;
    }
    __syncthreads();
    int thread = blockIdx.x * THREADS + threadIdx.x;
    if (thread < count) {
        visit(frontier[thread], queues, nodes, edges, color, cost, gray, overflow);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        join(queues, begin);
        first = atomicAdd(next_count, begin[QUEUES]);
    }
    __syncthreads();
    copy(queues, begin, next + first);
}

// Level after level, by one CTA and with the frontier in shared memory, for as long as it fits there.
extern "C" __global__ void bfs_levels_of_a_cta(const int *frontier, int *next, int count, const int2 *nodes,
                                               const int2 *edges, int *color, int *cost, int gray, int other_gray,
                                               int *next_count, int *overflow) {
    __shared__ Queues queues;
    __shared__ int begin[QUEUES + 1];
    __shared__ int inner[THREADS];

    const int *current = frontier;
    while (true) {
        if (threadIdx.x < QUEUES) {
            queues.length[threadIdx.x] = 0;
        }
        __syncthreads();
        if (threadIdx.x < count) {
            visit(current[threadIdx.x], queues, nodes, edges, color, cost, gray, overflow);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            join(queues, begin);
        }
        __syncthreads();
        count = begin[QUEUES];
        if (count == 0 || count > THREADS) {
            break;
        }
        copy(queues, begin, inner);
        __syncthreads();
        current = inner;
        int swapped = gray;
        gray = other_gray;
        other_gray = swapped;
    }
    copy(queues, begin, next);
    if (threadIdx.x == 0) {
        *next_count = count;
    }
}
