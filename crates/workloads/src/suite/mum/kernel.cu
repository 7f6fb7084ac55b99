// Where the letters of reads occur in a reference: the longest match of every suffix of every read, a thread per read,
// in a suffix tree of the reference. Lanes walk different paths of the tree and for different lengths.
//
// Node 0 is none and node 1 the root. Of a node, `nodes` has where in the reference the letters on the edge to it begin
// and end, and its suffix link: the node whose letters are the same but for the first. `children` has a node for each
// of A, C, G and T.

#define NONE 0
#define ROOT 1

// A read's letter, or the letter of the strand opposite to it.
template <bool OPPOSITE> __device__ __forceinline__ char letter(const char *read, int length, int at) {
    if (!OPPOSITE) {
        return read[at];
    }
    switch (read[length - 1 - at]) {
    case 'A':
        return 'T';
    case 'C':
        return 'G';
    case 'G':
        return 'C';
    default:
        return 'A';
    }
}

__device__ __forceinline__ int follow(const int4 *children, int node, char letter) {
    int4 child = __ldg(&children[node]);
    switch (letter) {
    case 'A':
        return child.x;
    case 'C':
        return child.y;
    case 'G':
        return child.z;
    default:
        return child.w;
    }
}

// For every suffix of at least `shortest` letters whose match is that long: the last node that the match reached, and
// how many letters of the edge to it, 0 for all.
template <bool OPPOSITE>
__device__ __forceinline__ void match(int reads, int shortest, const char *letters, const int *begins,
                                      const int *lengths, const int4 *nodes, const int4 *children,
                                      const char *reference, int2 *matches) {
    int number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= reads) {
        return;
    }
    int length = lengths[number];
    const char *read = letters + begins[number];
    int2 *result = matches + begins[number] - number * (shortest - 1);

    int node = ROOT;
    // Letters from the root to `node`, and letters beyond that are known to match.
    int depth = 0;
    int known = 0;
    for (int first = 0; first + shortest <= length; first++) {
        int child = node;
        int on_edge = 0;
        while (first + depth < length) {
            child = follow(children, node, letter<OPPOSITE>(read, length, first + depth));
            if (child == NONE) {
                break;
            }
            int4 edge = __ldg(&nodes[child]);
            int edge_length = edge.y - edge.x;
            int compared = min(max(known, 1), edge_length);
            known -= compared;
            on_edge = compared;
            while (on_edge < edge_length && first + depth + on_edge < length
                   && __ldg(&reference[edge.x + on_edge]) == letter<OPPOSITE>(read, length, first + depth + on_edge)) {
                on_edge++;
            }
            if (on_edge < edge_length) {
                break;
            }
            depth += edge_length;
            node = child;
            on_edge = 0;
        }

        if (depth + on_edge >= shortest) {
            result[first] = make_int2(on_edge > 0 ? child : node, on_edge);
        }
        // The next suffix has matched as far as this one, less its first letter.
        node = __ldg(&nodes[node]).z;
        depth--;
        known = on_edge;
        if (node == NONE) {
            node = ROOT;
            depth = 0;
            known = 0;
        }
    }
}

extern "C" __global__ void mum_match(int reads, int shortest, const char *letters, const int *begins,
                                     const int *lengths, const int4 *nodes, const int4 *children,
                                     const char *reference, int2 *matches) {
    match<false>(reads, shortest, letters, begins, lengths, nodes, children, reference, matches);
}

extern "C" __global__ void mum_match_opposite(int reads, int shortest, const char *letters, const int *begins,
                                              const int *lengths, const int4 *nodes, const int4 *children,
                                              const char *reference, int2 *matches) {
    match<true>(reads, shortest, letters, begins, lengths, nodes, children, reference, matches);
}
