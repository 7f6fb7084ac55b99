#pragma once

#include "numbers.cuh"

// Where each region's samples begin, in units of the point's scale.
__constant__ int region_x[REGIONS];
__constant__ int region_y[REGIONS];

// The gradient at sample `t` of a region, turned to the point's direction and weighted by its distance from the region's
// middle: across, along, and both without their signs.
__device__ inline float4 turned_gradient(const int *integral, int width, int height, const float *scales,
                                         const float2 *positions, const float2 *directions, int point, int region,
                                         int t) {
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
    return make_float4(across, along, fabsf(across), fabsf(along));
}

// A region's sums, weighted by the region's distance from the point.
__device__ inline float4 weighted(const float4 *sums, int region) {
    float weight = gaussian((float)(region / 4) - 1.5f, (float)(region % 4) - 1.5f, 1.5f);
    float4 sum = *sums;
    return make_float4(weight * sum.x, weight * sum.y, weight * sum.z, weight * sum.w);
}
