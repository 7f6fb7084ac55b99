// What SURF's kernels share in all versions: sizes, and what is computed from the integral image and the responses.
//
// Box sums are integers. Where a float decides something, its rounding is spelled out, so that every decision is the
// same on every machine.

#pragma once

#define ROW_THREADS 64
#define MARGIN (ROW_THREADS / 2)

#define TILE 16

#define DISC_SIDE 13
#define DISC_SAMPLES 109

#define WINDOWS 42

#define REGIONS 16
#define REGION_SIDE 9
#define REGION_THREADS (REGION_SIDE * REGION_SIDE)

__device__ inline float mul(float a, float b) {
    return __fmul_rn(a, b);
}

__device__ inline float add(float a, float b) {
    return __fadd_rn(a, b);
}

__device__ inline float sub(float a, float b) {
    return __fsub_rn(a, b);
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
struct Response {
    float determinant;
    float dxx;
    float dyy;

    __device__ Response(const int *integral, int width, int height, int r, int c, int filter) {
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
        dxx = mul((float)xx, scale);
        dyy = mul((float)yy, scale);
        float dxy = mul((float)xy, scale);
        determinant = sub(mul(dxx, dyy), mul(mul(0.81f, dxy), dxy));
    }

    __device__ int laplacian() const {
        return add(dxx, dyy) >= 0.0f;
    }
};

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

// Whether a sample is an interest point: no neighbour in space or scale responds more, and the top of the parabola is nearer
// to this sample than to any other.
__device__ inline bool is_point(const Layer &top, const Layer &middle, const Layer &bottom, int c, int r, float threshold) {
    float candidate = middle.at(c, r);
    if (candidate >= threshold) {
        float most = fmaxf(fmaxf(greatest(top, c, r), greatest(bottom, c, r)), greatest(middle, c, r));
        if (most <= candidate) {
            float3 offset = refine(top, middle, bottom, c, r);
            return fabsf(offset.x) < 0.5f && fabsf(offset.y) < 0.5f && fabsf(offset.z) < 0.5f;
        }
    }
    return false;
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

__device__ inline float square_length(float2 v) {
    return add(mul(v.x, v.x), mul(v.y, v.y));
}

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
