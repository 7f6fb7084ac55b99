// SURF: interest points of a grey image, found by box filters over an integral image, and a descriptor of each.

#include "numbers.cuh"
#include "scan.cuh"

// Inclusive prefix sums of a row by one CTA, ROW_THREADS elements at a time. A margin of zeros before them stands for
// what lies to the left of the piece.
extern "C" __global__ void scan_rows(int columns, const int *input, int *output) {
    __shared__ int even[MARGIN + ROW_THREADS];
    __shared__ int odd[MARGIN + ROW_THREADS];
    int t = threadIdx.x;
    if (t < MARGIN) {
        even[t] = 0;
        odd[t] = 0;
    }
    int at = MARGIN + t;
    int before = 0;
    for (int first = 0; first < columns; first += ROW_THREADS) {
        int column = first + t;
        int place = blockIdx.y * columns + column;
        even[at] = column < columns ? input[place] : 0;
        __syncthreads();
        odd[at] = even[at] + even[at - 1];
        __syncthreads();
        even[at] = odd[at] + odd[at - 2];
        __syncthreads();
        odd[at] = even[at] + even[at - 4];
        __syncthreads();
        even[at] = odd[at] + odd[at - 8];
        __syncthreads();
        odd[at] = even[at] + even[at - 16];
        __syncthreads();
        even[at] = odd[at] + odd[at - 32];
        __syncthreads();
        if (column < columns) {
            output[place] = even[at] + before;
        }
        before += even[MARGIN + ROW_THREADS - 1];
        __syncthreads();
    }
}

extern "C" __global__ void transpose(int rows, int columns, const int *input, int *output) {
    __shared__ int tile[TILE][TILE + 1];
    int column = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && column < columns) {
        tile[threadIdx.y][threadIdx.x] = input[row * columns + column];
    }
    __syncthreads();
    column = blockIdx.y * TILE + threadIdx.x;
    row = blockIdx.x * TILE + threadIdx.y;
    if (row < columns && column < rows) {
        output[row * rows + column] = tile[threadIdx.x][threadIdx.y];
    }
}

extern "C" __global__ void hessian_determinant(const int *integral, int width, int height, float *responses,
                                               int *laplacians, int layer_width, int layer_height, int step,
                                               int filter) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= layer_width || y >= layer_height) {
        return;
    }
    Response response(integral, width, height, y * step, x * step, filter);
    responses[y * layer_width + x] = response.determinant;
    laplacians[y * layer_width + x] = response.laplacian();
}

// Marks the samples of a layer that are interest points.
extern "C" __global__ void suppress_non_maxima(const float *top_responses, int top_width, int top_height, int border,
                                               const float *middle_responses, int middle_width,
                                               const float *bottom_responses, int bottom_width, float threshold,
                                               int *marks) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= top_width || r >= top_height) {
        return;
    }
    bool found = false;
    if (r > border && r < top_height - border && c > border && c < top_width - border) {
        Layer top = {top_responses, top_width, 1};
        Layer middle = {middle_responses, middle_width, middle_width / top_width};
        Layer bottom = {bottom_responses, bottom_width, bottom_width / top_width};
        found = is_point(top, middle, bottom, c, r, threshold);
    }
    marks[r * top_width + c] = found;
}

#include "write_points.cuh"

// The gradients in a disc around a point, weighted by their distance: a thread for each sample of the square around it.
extern "C" __global__ void sample_gradients(const int *integral, int width, int height, const float *scales,
                                            const float2 *positions, const float *gauss, const int *slots,
                                            float4 *samples) {
    __shared__ float weights[49];
    int t = threadIdx.x;
    int point = blockIdx.x;
    if (t < 49) {
        weights[t] = gauss[t];
    }
    __syncthreads();
    int i = t / DISC_SIDE - 6;
    int j = t % DISC_SIDE - 6;
    int s = (int)roundf(scales[point]);
    int r = (int)roundf(positions[point].y);
    int c = (int)roundf(positions[point].x);
    if (i * i + j * j < 36) {
        float weight = weights[7 * abs(i) + abs(j)];
        float x = mul(weight, haar_x(integral, width, height, r + j * s, c + i * s, 4 * s));
        float y = mul(weight, haar_y(integral, width, height, r + j * s, c + i * s, 4 * s));
        samples[point * DISC_SAMPLES + slots[t]] = make_float4(x, y, angle_of(x, y), 1.0f);
    }
}

// Turns a window of a third of pi around a point: a thread for each of its positions sums the gradients that point into
// it, and the longest sum is the point's direction.
extern "C" __global__ void find_direction(const float4 *samples, float2 *directions) {
    __shared__ float4 gradients[DISC_SAMPLES];
    __shared__ float2 sums[WINDOWS];
    int t = threadIdx.x;
    int point = blockIdx.x;
    for (int k = t; k < DISC_SAMPLES; k += WINDOWS) {
        gradients[k] = samples[point * DISC_SAMPLES + k];
    }
    __syncthreads();

    float from = mul(0.15f, (float)t);
    float to = add(from, PI / 3.0f);
    bool wraps = to > 2.0f * PI;
    if (wraps) {
        to = sub(from, 5.0f * PI / 3.0f);
    }
    float2 sum = make_float2(0.0f, 0.0f);
    for (int k = 0; k < DISC_SAMPLES; k++) {
        float4 gradient = gradients[k];
        float angle = gradient.z;
        bool inside = wraps ? (angle > 0.0f && angle < to) || (angle > from && angle < 2.0f * PI)
                            : from < angle && angle < to;
        if (inside) {
            sum.x += gradient.x;
            sum.y += gradient.y;
        }
    }
    sums[t] = sum;
    __syncthreads();
    for (int distance = 32; distance > 0; distance >>= 1) {
        if (t < distance && t + distance < WINDOWS
            && square_length(sums[t]) < square_length(sums[t + distance])) {
            sums[t] = sums[t + distance];
        }
        __syncthreads();
    }
    if (t == 0) {
        float length = sqrtf(square_length(sums[0]));
        directions[point] = length > 0.0f ? make_float2(sums[0].x / length, sums[0].y / length)
                                          : make_float2(1.0f, 0.0f);
    }
}

#include "regions.cuh"

// Four numbers of a descriptor: the gradients in one region of 9 x 9 samples around a point, turned to its direction,
// summed, and summed without their signs. 16 regions make a descriptor.
extern "C" __global__ void describe(const int *integral, int width, int height, const float *scales,
                                    const float2 *positions, const float2 *directions, float4 *descriptors,
                                    float *lengths) {
    __shared__ float4 sums[REGION_THREADS];
    int region = blockIdx.x;
    int point = blockIdx.y;
    int t = threadIdx.x;
    sums[t] = turned_gradient(integral, width, height, scales, positions, directions, point, region, t);
    __syncthreads();

    if (t < REGION_THREADS - 64) {
        sums[t] = plus(sums[t], sums[t + 64]);
    }
    __syncthreads();
    for (int distance = 32; distance > 0; distance >>= 1) {
        if (t < distance) {
            sums[t] = plus(sums[t], sums[t + distance]);
        }
        __syncthreads();
    }
    if (t == 0) {
        float4 sum = weighted(sums, region);
        descriptors[point * REGIONS + region] = sum;
        lengths[point * REGIONS + region] = sum.x * sum.x + sum.y * sum.y + sum.z * sum.z + sum.w * sum.w;
    }
}

// Makes descriptors unit vectors: a CTA for each, a thread for each of its 64 numbers.
extern "C" __global__ void normalize_descriptors(float *descriptors, const float *lengths) {
    __shared__ float sums[REGIONS];
    int t = threadIdx.x;
    if (t < REGIONS) {
        sums[t] = lengths[blockIdx.x * REGIONS + t];
    }
    __syncthreads();
    for (int distance = REGIONS / 2; distance > 0; distance >>= 1) {
        if (t < distance) {
            sums[t] += sums[t + distance];
        }
        __syncthreads();
    }
    descriptors[blockIdx.x * 64 + t] *= 1.0f / sqrtf(sums[0]);
}
