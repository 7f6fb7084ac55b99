// SURF as in kernel.cu, over tiles. A version defines OWN(type, name, count) as well: where a CTA has values of its own that
// nobody else reads, and TEMPORARIES, the parameter that says where that is if it is not shared memory.
//
// What no tile can be stays in global memory in all versions: corners of boxes, the neighbours of a sample in space and scale,
// and single words of a CTA.

#include "numbers.cuh"

#define SCAN_THREADS 128
#define SCAN_PIECE (2 * SCAN_THREADS)

// One unused word after every 32 keeps the tree's strides off one bank.
__device__ inline int apart(int i) {
    return i + (i >> 5);
}

// A tree of an array's piece has gaps, and the rows of scan_rows have margins of zeros: they are copied, not mapped.
extern "C" __global__ void scan_pieces(int n, const int *values, int *sums, int *totals TEMPORARIES) {
    OWN(int, tree, SCAN_PIECE + SCAN_PIECE / 32);
    __shared__ CHUNK int sum_storage[SCAN_PIECE];
    int t = threadIdx.x;
    int first = blockIdx.x * SCAN_PIECE;
    int count = min(n - first, SCAN_PIECE);
    REST<int, WRITES, 1, SCAN_PIECE> result(sum_storage, 0, sums + first, 1, count, count);
    Cta<SCAN_THREADS>::begin(result);
    tree[apart(t)] = t < count ? values[first + t] : 0;
    tree[apart(t + SCAN_THREADS)] = t + SCAN_THREADS < count ? values[first + t + SCAN_THREADS] : 0;

    int stride = 1;
    for (int pairs = SCAN_THREADS; pairs > 0; pairs >>= 1) {
        __syncthreads();
        if (t < pairs) {
            int left = stride * (2 * t + 1) - 1;
            tree[apart(left + stride)] += tree[apart(left)];
        }
        stride *= 2;
    }
    if (t == 0) {
        totals[blockIdx.x] = tree[apart(SCAN_PIECE - 1)];
        tree[apart(SCAN_PIECE - 1)] = 0;
    }
    for (int pairs = 1; pairs <= SCAN_THREADS; pairs <<= 1) {
        stride >>= 1;
        __syncthreads();
        if (t < pairs) {
            int left = stride * (2 * t + 1) - 1;
            int before = tree[apart(left + stride)];
            tree[apart(left + stride)] = before + tree[apart(left)];
            tree[apart(left)] = before;
        }
    }
    __syncthreads();
    for (int i = t; i < count; i += SCAN_THREADS) {
        result(0, i) = tree[apart(i)];
    }
    Cta<SCAN_THREADS>::end(result);
}

extern "C" __global__ void scan_add(int n, const int *starts, int *sums) {
    __shared__ CHUNK int storage[SCAN_PIECE];
    int first = blockIdx.x * SCAN_PIECE;
    int count = min(n - first, SCAN_PIECE);
    REST<int, UPDATES, 1, SCAN_PIECE> result(storage, 0, sums + first, 1, count, count);
    int start = starts[blockIdx.x];
    Cta<SCAN_THREADS>::begin(result);
    for (int i = threadIdx.x; i < count; i += SCAN_THREADS) {
        result(0, i) += start;
    }
    Cta<SCAN_THREADS>::end(result);
}

extern "C" __global__ void scan_rows(int columns, const int *input, int *output TEMPORARIES) {
    OWN(int, rows, 2 * (MARGIN + ROW_THREADS));
    __shared__ CHUNK int storage[ROW_THREADS];
    using Block = Cta<ROW_THREADS>;
    int *even = rows;
    int *odd = rows + MARGIN + ROW_THREADS;
    const int *from = input + blockIdx.y * columns;
    int *to = output + blockIdx.y * columns;
    int count = min(columns, ROW_THREADS);
    REST<int, WRITES, 1, ROW_THREADS> result(storage, 0, to, 1, count, count);
    int t = threadIdx.x;
    if (t < MARGIN) {
        even[t] = 0;
        odd[t] = 0;
    }
    Block::begin(result);
    int at = MARGIN + t;
    int before = 0;
    for (int first = 0;;) {
        even[at] = t < count ? from[first + t] : 0;
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
        if (t < count) {
            result(0, t) = even[at] + before;
        }
        before += even[MARGIN + ROW_THREADS - 1];
        Block::end(result);
        first += ROW_THREADS;
        if (first >= columns) {
            break;
        }
        count = min(columns - first, ROW_THREADS);
        result.columns = count;
        result.move(to + first);
        __syncthreads();
        Block::change(result);
        __syncthreads();
    }
}

extern "C" __global__ void transpose(int rows, int columns, const int *input, int *output) {
    __shared__ CHUNK int input_storage[TILE * TILE];
    __shared__ CHUNK int output_storage[TILE * TILE];
    using Block = Cta<TILE, TILE>;
    int row = blockIdx.y * TILE;
    int column = blockIdx.x * TILE;
    int height = min(TILE, rows - row);
    int width = min(TILE, columns - column);
    LOCAL<int, READS, TILE, TILE> tile(input_storage, 0, input + row * columns + column, height, width, columns);
    REST<int, WRITES, TILE, TILE> turned(output_storage, 1, output + column * rows + row, width, height, rows);
    Block::begin(tile, turned);
    if ((int)threadIdx.y < width && (int)threadIdx.x < height) {
        turned(threadIdx.y, threadIdx.x) = tile(threadIdx.x, threadIdx.y);
    }
    Block::end(turned);
}

extern "C" __global__ void hessian_determinant(const int *integral, int width, int height, float *responses,
                                               int *laplacians, int layer_width, int layer_height, int step,
                                               int filter) {
    __shared__ CHUNK float response_storage[TILE * TILE];
    __shared__ CHUNK int laplacian_storage[TILE * TILE];
    using Block = Cta<TILE, TILE>;
    int first_x = blockIdx.x * TILE;
    int first_y = blockIdx.y * TILE;
    int columns = min(TILE, layer_width - first_x);
    int rows = min(TILE, layer_height - first_y);
    int corner = first_y * layer_width + first_x;
    REST<float, WRITES, TILE, TILE> determinants(response_storage, 0, responses + corner, rows, columns, layer_width);
    REST<int, WRITES, TILE, TILE> signs(laplacian_storage, 1, laplacians + corner, rows, columns, layer_width);
    int column = threadIdx.x;
    int row = threadIdx.y;
    Block::begin(determinants, signs);
    if (column < columns && row < rows) {
        Response response(integral, width, height, (first_y + row) * step, (first_x + column) * step, filter);
        determinants(row, column) = response.determinant;
        signs(row, column) = response.laplacian();
    }
    Block::end(determinants, signs);
}

extern "C" __global__ void suppress_non_maxima(const float *top_responses, int top_width, int top_height, int border,
                                               const float *middle_responses, int middle_width,
                                               const float *bottom_responses, int bottom_width, float threshold,
                                               int *marks) {
    __shared__ CHUNK int storage[TILE * TILE];
    using Block = Cta<TILE, TILE>;
    int first_c = blockIdx.x * TILE;
    int first_r = blockIdx.y * TILE;
    int columns = min(TILE, top_width - first_c);
    int rows = min(TILE, top_height - first_r);
    // The grid covers the middle layer, which may be larger than the top one, whose samples have marks.
    if (columns <= 0 || rows <= 0) {
        return;
    }
    REST<int, WRITES, TILE, TILE> result(storage, 0, marks + first_r * top_width + first_c, rows, columns, top_width);
    int c = first_c + threadIdx.x;
    int r = first_r + threadIdx.y;
    Block::begin(result);
    if (c < top_width && r < top_height) {
        bool found = false;
        if (r > border && r < top_height - border && c > border && c < top_width - border) {
            Layer top = {top_responses, top_width, 1};
            Layer middle = {middle_responses, middle_width, middle_width / top_width};
            Layer bottom = {bottom_responses, bottom_width, bottom_width / top_width};
            found = is_point(top, middle, bottom, c, r, threshold);
        }
        result(threadIdx.y, threadIdx.x) = found;
    }
    Block::end(result);
}

#include "write_points.cuh"

#define DISC_THREADS (DISC_SIDE * DISC_SIDE)

extern "C" __global__ void sample_gradients(const int *integral, int width, int height, const float *scales,
                                            const float2 *positions, const float *gauss, const int *slots,
                                            float4 *samples) {
    __shared__ CHUNK float weight_storage[49];
    __shared__ CHUNK int slot_storage[DISC_THREADS];
    __shared__ CHUNK float4 sample_storage[DISC_SAMPLES];
    using Block = Cta<DISC_THREADS>;
    int t = threadIdx.x;
    int point = blockIdx.x;
    LOCAL<float, READS, 1, 49> weights(weight_storage, 0, gauss, 1, 49, 49);
    REST<int, READS, 1, DISC_THREADS> slot(slot_storage, 1, slots, 1, DISC_THREADS, DISC_THREADS);
    REST<float4, WRITES, 1, DISC_SAMPLES> sample(sample_storage, 2, samples + point * DISC_SAMPLES, 1, DISC_SAMPLES,
                                                 DISC_SAMPLES);
    Block::begin(weights, slot, sample);
    int i = t / DISC_SIDE - 6;
    int j = t % DISC_SIDE - 6;
    int s = (int)roundf(scales[point]);
    int r = (int)roundf(positions[point].y);
    int c = (int)roundf(positions[point].x);
    if (i * i + j * j < 36) {
        float weight = weights(0, 7 * abs(i) + abs(j));
        float x = mul(weight, haar_x(integral, width, height, r + j * s, c + i * s, 4 * s));
        float y = mul(weight, haar_y(integral, width, height, r + j * s, c + i * s, 4 * s));
        sample(0, slot(0, t)) = make_float4(x, y, angle_of(x, y), 1.0f);
    }
    Block::end(sample);
}

extern "C" __global__ void find_direction(const float4 *samples, float2 *directions TEMPORARIES) {
    OWN(float2, sums, WINDOWS);
    __shared__ CHUNK float4 storage[DISC_SAMPLES];
    int t = threadIdx.x;
    int point = blockIdx.x;
    LOCAL<float4, READS, 1, DISC_SAMPLES> gradients(storage, 0, samples + point * DISC_SAMPLES, 1, DISC_SAMPLES,
                                                    DISC_SAMPLES);
    Cta<WINDOWS>::begin(gradients);

    float from = mul(0.15f, (float)t);
    float to = add(from, PI / 3.0f);
    bool wraps = to > 2.0f * PI;
    if (wraps) {
        to = sub(from, 5.0f * PI / 3.0f);
    }
    float2 sum = make_float2(0.0f, 0.0f);
    for (int k = 0; k < DISC_SAMPLES; k++) {
        float4 gradient = gradients(0, k);
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

extern "C" __global__ void describe(const int *integral, int width, int height, const float *scales,
                                    const float2 *positions, const float2 *directions, float4 *descriptors,
                                    float *lengths TEMPORARIES) {
    OWN(float4, sums, REGION_THREADS);
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

#define NUMBERS (4 * REGIONS)

extern "C" __global__ void normalize_descriptors(float *descriptors, const float *lengths TEMPORARIES) {
    OWN(float, sums, REGIONS / 2);
    __shared__ CHUNK float length_storage[REGIONS];
    __shared__ CHUNK float number_storage[NUMBERS];
    using Block = Cta<NUMBERS>;
    int t = threadIdx.x;
    LOCAL<float, READS, 1, REGIONS> length(length_storage, 0, lengths + blockIdx.x * REGIONS, 1, REGIONS, REGIONS);
    REST<float, UPDATES, 1, NUMBERS> number(number_storage, 1, descriptors + blockIdx.x * NUMBERS, 1, NUMBERS, NUMBERS);
    Block::begin(length, number);
    if (t < REGIONS / 2) {
        sums[t] = length(0, t) + length(0, t + REGIONS / 2);
    }
    __syncthreads();
    for (int distance = REGIONS / 4; distance > 0; distance >>= 1) {
        if (t < distance) {
            sums[t] += sums[t + distance];
        }
        __syncthreads();
    }
    number(0, t) *= 1.0f / sqrtf(sums[0]);
    Block::end(number);
}
