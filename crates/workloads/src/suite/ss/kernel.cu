// Similarity of every two documents, best first: a thread per pair of feature vectors.

#include "scan.cuh"
#include "pairs.cuh"

#define INPUT_PARAMETERS const float *features,
#define INPUT features,

// A record's value.
struct Two {
    int first;
    int second;
    int dimensions;
};

__device__ void map_count(const float *features, char *key, char *value, const Counts &counts) {
    count_pair(counts, sizeof(float), 2 * sizeof(int));
}

// The lengths of both vectors are computed anew for every pair.
__device__ void map_record(const float *features, char *key, char *value, const Output &output) {
    const Two *two = (const Two *)value;
    int dimensions = two->dimensions;
    int stride = (dimensions + 3) / 4 * 4;
    const float *a = features + two->first * stride;
    const float *b = features + two->second * stride;
    float product = 0.0f;
    float length_a = 0.0f;
    float length_b = 0.0f;
    int d = 0;
    for (; d + 4 <= dimensions; d += 4) {
        float4 x = *(const float4 *)(a + d);
        float4 y = *(const float4 *)(b + d);
        product += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
        length_a += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
        length_b += y.x * y.x + y.y * y.y + y.z * y.z + y.w * y.w;
    }
    for (; d < dimensions; d++) {
        product += a[d] * b[d];
        length_a += a[d] * a[d];
        length_b += b[d] * b[d];
    }

    int *pair = staging();
    pair[0] = __float_as_int(product / (sqrtf(length_a) * sqrtf(length_b)));
    pair[1] = two->first;
    pair[2] = two->second;
    emit_pair(output, (const char *)&pair[0], sizeof(float), (const char *)&pair[1], 2 * sizeof(int));
}

// The higher score comes first.
__device__ inline int compare(const float *features, const char *a, const char *b) {
    float one = *(const float *)a;
    float other = *(const float *)b;
    return (one < other) - (one > other);
}

#include "map.cuh"
#include "sort.cuh"
#include "group.cuh"
