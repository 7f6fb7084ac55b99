// What it would cost every point to move to a candidate center.

// As the host lays it out: `coordinates` is the host's pointer and of no use here.
struct Point {
    float weight;
    unsigned long long coordinates;
    long long center;
    float cost;
};

// Coordinates are a row per dimension: neighbouring threads read neighbouring values, and the candidate's are
// the same for all.
__device__ float squared_distance(int a, int b, int points, int dimensions, const float *coordinates) {
    float sum = 0.0f;
    for (int dimension = 0; dimension < dimensions; dimension++) {
        float off = coordinates[dimension * points + a] - coordinates[dimension * points + b];
        sum += off * off;
    }
    return sum;
}

// Every point has a row of `stride` floats of its own in `savings`, zero at first: what each of the `centers` open
// centers' points lose when that center closes, and last what the point gains when the candidate opens.
extern "C" __global__ void streamcluster_cost(int points, int dimensions, long long candidate, const Point *point,
                                              int centers, int stride, const float *coordinates, float *savings,
                                              const int *center_number, bool *moves) {
    int cta = blockIdx.y * gridDim.x + blockIdx.x;
    int self = cta * blockDim.x + threadIdx.x;
    if (self >= points) {
        return;
    }
    float *row = &savings[self * stride];
    float cost = squared_distance(self, candidate, points, dimensions, coordinates) * point[self].weight;
    if (cost < point[self].cost) {
        moves[self] = true;
        row[centers] += cost - point[self].cost;
    } else {
        row[center_number[point[self].center]] += point[self].cost - cost;
    }
}
