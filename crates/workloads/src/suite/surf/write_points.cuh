#pragma once

#include "numbers.cuh"

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
