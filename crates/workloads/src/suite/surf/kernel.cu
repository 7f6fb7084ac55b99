// SURF: interest points of a grey image, found by box filters over an integral image, and a descriptor of each.
//
// Box sums are integers. Where a float decides something, its rounding is spelled out, so that every decision is the
// same on every machine.

#include "scan.cuh"

__device__ inline float mul(float a, float b) {
    return __fmul_rn(a, b);
}

__device__ inline float add(float a, float b) {
    return __fadd_rn(a, b);
}

__device__ inline float sub(float a, float b) {
    return __fsub_rn(a, b);
}

#define ROW_THREADS 64
#define MARGIN (ROW_THREADS / 2)

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

#define TILE 16

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

// The sum of the pixels of a box, as far as it lies in the image.
__device__ inline int box(const int *integral, int width, int height, int row, int column, int rows, int columns) {
    int top = min(row, height) - 1;
    int left = min(column, width) - 1;
    int bottom = min(row + rows, height) - 1;
    int right = min(column + columns, width) - 1;
    int sum = 0;
    if (top >= 0 && left >= 0) {
        sum += integral[top * width + left];
    }
    if (top >= 0 && right >= 0) {
        sum -= integral[top * width + right];
    }
    if (bottom >= 0 && left >= 0) {
        sum -= integral[bottom * width + left];
    }
    if (bottom >= 0 && right >= 0) {
        sum += integral[bottom * width + right];
    }
    return sum;
}

// The determinant of the Hessian at one scale, its second derivatives taken by boxes, and the sign of its trace.
extern "C" __global__ void hessian_determinant(const int *integral, int width, int height, float *responses,
                                               int *laplacians, int layer_width, int layer_height, int step,
                                               int filter) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= layer_width || y >= layer_height) {
        return;
    }
    int r = y * step;
    int c = x * step;
    int lobe = filter / 3;
    int half = filter / 2;
    int wide = 2 * lobe - 1;
    int xx = box(integral, width, height, r - lobe + 1, c - half, wide, filter)
           - 3 * box(integral, width, height, r - lobe + 1, c - lobe / 2, wide, lobe);
    int yy = box(integral, width, height, r - half, c - lobe + 1, filter, wide)
           - 3 * box(integral, width, height, r - lobe / 2, c - lobe + 1, lobe, wide);
    int xy = box(integral, width, height, r - lobe, c + 1, lobe, lobe)
           + box(integral, width, height, r + 1, c - lobe, lobe, lobe)
           - box(integral, width, height, r - lobe, c - lobe, lobe, lobe)
           - box(integral, width, height, r + 1, c + 1, lobe, lobe);

    float scale = 1.0f / (float)(filter * filter);
    float dxx = mul((float)xx, scale);
    float dyy = mul((float)yy, scale);
    float dxy = mul((float)xy, scale);
    responses[y * layer_width + x] = sub(mul(dxx, dyy), mul(mul(0.81f, dxy), dxy));
    laplacians[y * layer_width + x] = add(dxx, dyy) >= 0.0f;
}

// A layer of responses, read at the sampling of the layer above it.
struct Layer {
    const float *responses;
    int width;
    int scale;

    __device__ float at(int c, int r) const {
        return responses[r * scale * width + c * scale];
    }
};

// The greatest response of a 3 x 3 neighbourhood.
__device__ inline float greatest(const Layer &layer, int c, int r) {
    float found = layer.at(c - 1, r - 1);
    found = fmaxf(found, layer.at(c, r - 1));
    found = fmaxf(found, layer.at(c + 1, r - 1));
    found = fmaxf(found, layer.at(c - 1, r));
    found = fmaxf(found, layer.at(c, r));
    found = fmaxf(found, layer.at(c + 1, r));
    found = fmaxf(found, layer.at(c - 1, r + 1));
    found = fmaxf(found, layer.at(c, r + 1));
    found = fmaxf(found, layer.at(c + 1, r + 1));
    return found;
}

// Determinant of the matrix of three columns.
__device__ inline float determinant(float3 a, float3 b, float3 c) {
    float x = mul(a.x, sub(mul(b.y, c.z), mul(b.z, c.y)));
    float y = mul(b.x, sub(mul(a.y, c.z), mul(a.z, c.y)));
    float z = mul(c.x, sub(mul(a.y, b.z), mul(a.z, b.y)));
    return add(sub(x, y), z);
}

// Where the extremum lies between samples: the offsets in column, row and layer at which a parabola through the
// neighbours has its top.
__device__ inline float3 refine(const Layer &top, const Layer &middle, const Layer &bottom, int c, int r) {
    float twice = mul(2.0f, middle.at(c, r));
    float3 slope = make_float3(mul(0.5f, sub(middle.at(c + 1, r), middle.at(c - 1, r))),
                               mul(0.5f, sub(middle.at(c, r + 1), middle.at(c, r - 1))),
                               mul(0.5f, sub(top.at(c, r), bottom.at(c, r))));
    float xx = sub(add(middle.at(c + 1, r), middle.at(c - 1, r)), twice);
    float yy = sub(add(middle.at(c, r + 1), middle.at(c, r - 1)), twice);
    float ss = sub(add(top.at(c, r), bottom.at(c, r)), twice);
    float xy = mul(0.25f, sub(sub(middle.at(c + 1, r + 1), middle.at(c - 1, r + 1)),
                              sub(middle.at(c + 1, r - 1), middle.at(c - 1, r - 1))));
    float xs = mul(0.25f, sub(sub(top.at(c + 1, r), top.at(c - 1, r)),
                              sub(bottom.at(c + 1, r), bottom.at(c - 1, r))));
    float ys = mul(0.25f, sub(sub(top.at(c, r + 1), top.at(c, r - 1)),
                              sub(bottom.at(c, r + 1), bottom.at(c, r - 1))));
    float3 first = make_float3(xx, xy, xs);
    float3 second = make_float3(xy, yy, ys);
    float3 third = make_float3(xs, ys, ss);
    float whole = determinant(first, second, third);
    return make_float3(-determinant(slope, second, third) / whole, -determinant(first, slope, third) / whole,
                       -determinant(first, second, slope) / whole);
}

// Marks the samples of a layer that are interest points: no neighbour in space or scale responds more, and the top of
// the parabola is nearer to this sample than to any other.
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
        float candidate = middle.at(c, r);
        if (candidate >= threshold) {
            float most = fmaxf(fmaxf(greatest(top, c, r), greatest(bottom, c, r)), greatest(middle, c, r));
            if (most <= candidate) {
                float3 offset = refine(top, middle, bottom, c, r);
                found = fabsf(offset.x) < 0.5f && fabsf(offset.y) < 0.5f && fabsf(offset.z) < 0.5f;
            }
        }
    }
    marks[r * top_width + c] = found;
}

// Writes the marked samples as points, at the places that the marks' prefix sums give them.
extern "C" __global__ void write_points(const float *top_responses, int top_width, int top_height, int step,
                                        const float *middle_responses, const int *middle_laplacians, int middle_width,
                                        int middle_filter, const float *bottom_responses, int bottom_width,
                                        int bottom_filter, const int *marks, const int *places, float2 *positions,
                                        float *scales, int *laplacians) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= top_width || r >= top_height || !marks[r * top_width + c]) {
        return;
    }
    Layer top = {top_responses, top_width, 1};
    Layer middle = {middle_responses, middle_width, middle_width / top_width};
    Layer bottom = {bottom_responses, bottom_width, bottom_width / top_width};
    float3 offset = refine(top, middle, bottom, c, r);
    int place = places[r * top_width + c];
    float distance = (float)(middle_filter - bottom_filter);
    positions[place] = make_float2(mul(add((float)c, offset.x), (float)step), mul(add((float)r, offset.y), (float)step));
    scales[place] = mul(0.1333f, add((float)middle_filter, mul(offset.z, distance)));
    laplacians[place] = middle_laplacians[r * middle.scale * middle_width + c * middle.scale];
}

// Haar wavelets of `size` pixels around a pixel.
__device__ inline float haar_x(const int *integral, int width, int height, int row, int column, int size) {
    return (float)(box(integral, width, height, row - size / 2, column, size, size / 2)
                   - box(integral, width, height, row - size / 2, column - size / 2, size, size / 2));
}

__device__ inline float haar_y(const int *integral, int width, int height, int row, int column, int size) {
    return (float)(box(integral, width, height, row, column - size / 2, size / 2, size)
                   - box(integral, width, height, row - size / 2, column - size / 2, size / 2, size));
}

#define PI 3.14159265f

// The angle of a vector from the x axis, from 0 to 2 pi.
__device__ inline float angle_of(float x, float y) {
    if (x == 0.0f && y == 0.0f) {
        return 0.0f;
    }
    if (x >= 0.0f) {
        return y >= 0.0f ? atanf(y / x) : 2.0f * PI - atanf(-y / x);
    }
    return y >= 0.0f ? PI - atanf(-y / x) : PI + atanf(y / x);
}

#define DISC_SIDE 13
#define DISC_SAMPLES 109

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

#define WINDOWS 42

__device__ inline float square_length(float2 v) {
    return add(mul(v.x, v.x), mul(v.y, v.y));
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

#define REGIONS 16
#define REGION_SIDE 9
#define REGION_THREADS (REGION_SIDE * REGION_SIDE)

// Where each region's samples begin, in units of the point's scale.
__constant__ int region_x[REGIONS];
__constant__ int region_y[REGIONS];

__device__ inline float gaussian(float x, float y, float sigma) {
    return 1.0f / (2.0f * PI * sigma * sigma) * expf(-(x * x + y * y) / (2.0f * sigma * sigma));
}

// The pixel that lies `along` and `across` in the point's own directions from it.
__device__ inline int2 pixel(float2 centre, float2 direction, float scale, int along, int across) {
    float x = add(mul(mul((float)-across, scale), direction.y), mul(mul((float)along, scale), direction.x));
    float y = add(mul(mul((float)across, scale), direction.x), mul(mul((float)along, scale), direction.y));
    return make_int2((int)roundf(add(centre.x, x)), (int)roundf(add(centre.y, y)));
}

__device__ inline float4 plus(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// Four numbers of a descriptor: the gradients in one region of 9 x 9 samples around a point, turned to its direction,
// summed, and summed without their signs. 16 regions make a descriptor.
extern "C" __global__ void describe(const int *integral, int width, int height, const float *scales,
                                    const float2 *positions, const float2 *directions, float4 *descriptors,
                                    float *lengths) {
    __shared__ float4 sums[REGION_THREADS];
    int region = blockIdx.x;
    int point = blockIdx.y;
    int t = threadIdx.x;
    int i = region_x[region];
    int j = region_y[region];
    float scale = scales[point];
    float2 direction = directions[point];
    float2 centre = make_float2(roundf(positions[point].x), roundf(positions[point].y));
    int2 middle = pixel(centre, direction, scale, i + 5, j + 5);
    int2 sample = pixel(centre, direction, scale, i + t / REGION_SIDE, j + t % REGION_SIDE);

    float weight = gaussian((float)(middle.x - sample.x), (float)(middle.y - sample.y), 2.5f * scale);
    int size = 2 * (int)roundf(scale);
    float x = haar_x(integral, width, height, sample.y, sample.x, size);
    float y = haar_y(integral, width, height, sample.y, sample.x, size);
    float across = weight * (-x * direction.y + y * direction.x);
    float along = weight * (x * direction.x + y * direction.y);
    sums[t] = make_float4(across, along, fabsf(across), fabsf(along));
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
        float weight = gaussian((float)(region / 4) - 1.5f, (float)(region % 4) - 1.5f, 1.5f);
        float4 sum = sums[0];
        sum = make_float4(weight * sum.x, weight * sum.y, weight * sum.z, weight * sum.w);
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
