// Pages ordered by how often they were viewed: a map that passes its records on, a sort, and groups.

#include "scan.cuh"
#include "pairs.cuh"

#define INPUT_PARAMETERS
#define INPUT

__device__ void map_count(char *key, char *value, const Counts &counts) {
    count_pair(counts, sizeof(int), sizeof(int));
}

__device__ void map_record(char *key, char *value, const Output &output) {
    int *pair = staging();
    pair[0] = *(const int *)key;
    pair[1] = *(const int *)value;
    emit_pair(output, (const char *)&pair[0], sizeof(int), (const char *)&pair[1], sizeof(int));
}

// The page viewed more often comes first.
__device__ inline int compare(const char *a, const char *b) {
    int one = *(const int *)a;
    int other = *(const int *)b;
    return (one < other) - (one > other);
}

#include "map.cuh"
#include "sort.cuh"
#include "group.cuh"
