// Assignment of points to their nearest centroids, a thread per point.

#define MOST_CLUSTERS 32
#define MOST_FEATURES 34

__constant__ float centroids[MOST_CLUSTERS * MOST_FEATURES];

// From a row per point to a row per feature, so that neighbouring threads read neighbouring values afterwards. Here
// they read a row's length apart.
extern "C" __global__ void kmeans_invert(const float *by_point, float *by_feature, int points, int features) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point < points) {
        for (int feature = 0; feature < features; feature++) {
            by_feature[feature * points + point] = by_point[point * features + feature];
        }
    }
}

// The number of the nearest centroid, the lowest of equals. Every centroid reads all features of the point again.
extern "C" __global__ void kmeans_assign(const float *by_feature, int features, int points, int clusters,
                                         int *membership) {
    unsigned int cta = blockIdx.y * gridDim.x + blockIdx.x;
    unsigned int point = cta * blockDim.x + threadIdx.x;
    if (point >= points) {
        return;
    }
    int nearest = -1;
    float least = 3.40282347e+38f;
    for (int cluster = 0; cluster < clusters; cluster++) {
        float distance = 0.0f;
        for (int feature = 0; feature < features; feature++) {
            float off = __ldg(&by_feature[feature * points + point]) - centroids[cluster * features + feature];
            distance += off * off;
        }
        if (distance < least) {
            least = distance;
            nearest = cluster;
        }
    }
    membership[point] = nearest;
}
