// Gridding of MRI samples: samples anywhere in k-space are sorted into the unit cells of a regular grid, then every
// grid point gathers the samples near it, weighted by a Kaiser-Bessel window of their distance.

// ---- Binning

// As acquired.
struct Sample {
    float real;
    float imaginary;
    float kx;
    float ky;
    float kz;
    // The sampling density's inverse.
    float compensation;
};

__constant__ int grid_size[3];
__constant__ int layer_size;
__constant__ float cutoff;
__constant__ float cutoff_squared;
__constant__ float inverse_cutoff_squared;

// Each sample's cell, and how many samples a cell has. Those that find `capacity` others there go to cell `cells`.
extern "C" __global__ void binning(unsigned n, const Sample *samples, unsigned *keys, unsigned *values,
                                   unsigned *bin_counts, unsigned capacity, unsigned cells) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    Sample sample = samples[i];
    unsigned cell = (unsigned)sample.kz * layer_size + (unsigned)sample.ky * grid_size[0] + (unsigned)sample.kx;
    unsigned key = cells;
    // A look at the count first spares full cells the atomic.
    if (bin_counts[cell] < capacity) {
        if (atomicAdd(&bin_counts[cell], 1) < capacity) {
            key = cell;
        } else {
            atomicSub(&bin_counts[cell], 1);
        }
    }
    keys[i] = key;
    values[i] = i;
}

// ---- Prefix sums (Blelloch, "Prefix sums and their applications", 1990), by a CTA in shared memory

#define SCAN_VALUES 1024

// Turns the last of each 2, 4, 8, ... values into their sum; `count` is a power of two.
__device__ void sum_up(unsigned *values, unsigned count) {
    unsigned stride = 1;
    for (unsigned pairs = count / 2; pairs > 0; pairs /= 2) {
        __syncthreads();
        for (unsigned pair = threadIdx.x; pair < pairs; pair += blockDim.x) {
            unsigned right = (2 * pair + 2) * stride - 1;
            values[right] += values[right - stride];
        }
        stride *= 2;
    }
}

// Turns such sums, the last of which was replaced by zero, into exclusive prefix sums.
__device__ void hand_down(unsigned *values, unsigned count) {
    unsigned stride = count / 2;
    for (unsigned pairs = 1; pairs < count; pairs *= 2) {
        __syncthreads();
        for (unsigned pair = threadIdx.x; pair < pairs; pair += blockDim.x) {
            unsigned right = (2 * pair + 2) * stride - 1;
            unsigned left_sum = values[right - stride];
            values[right - stride] = values[right];
            values[right] += left_sum;
        }
        stride /= 2;
    }
    __syncthreads();
}

// Exclusive prefix sums of each 1024 values by themselves, and the sum of each; two values per thread.
extern "C" __global__ void scan_blocks(unsigned n, unsigned *values, unsigned *totals) {
    __shared__ unsigned sums[SCAN_VALUES];
    unsigned low = threadIdx.x;
    unsigned high = threadIdx.x + blockDim.x;
    unsigned first = blockIdx.x * SCAN_VALUES;

    sums[low] = first + low < n ? values[first + low] : 0;
    sums[high] = first + high < n ? values[first + high] : 0;
    sum_up(sums, SCAN_VALUES);
    if (threadIdx.x == 0) {
        totals[blockIdx.x] = sums[SCAN_VALUES - 1];
        sums[SCAN_VALUES - 1] = 0;
    }
    hand_down(sums, SCAN_VALUES);
    if (first + low < n) {
        values[first + low] = sums[low];
    }
    if (first + high < n) {
        values[first + high] = sums[high];
    }
}

// The two halves of a scan of the blocks' totals; between them the last one becomes zero.
extern "C" __global__ void scan_totals_up(unsigned *totals) {
    extern __shared__ unsigned held[];
    held[2 * threadIdx.x] = totals[2 * threadIdx.x];
    held[2 * threadIdx.x + 1] = totals[2 * threadIdx.x + 1];
    sum_up(held, 2 * blockDim.x);
    __syncthreads();
    totals[2 * threadIdx.x] = held[2 * threadIdx.x];
    totals[2 * threadIdx.x + 1] = held[2 * threadIdx.x + 1];
}

extern "C" __global__ void scan_totals_down(unsigned *totals) {
    extern __shared__ unsigned held[];
    held[2 * threadIdx.x] = totals[2 * threadIdx.x];
    held[2 * threadIdx.x + 1] = totals[2 * threadIdx.x + 1];
    hand_down(held, 2 * blockDim.x);
    totals[2 * threadIdx.x] = held[2 * threadIdx.x];
    totals[2 * threadIdx.x + 1] = held[2 * threadIdx.x + 1];
}

// Adds to each block what comes before it.
extern "C" __global__ void add_totals(unsigned n, unsigned *values, const unsigned *totals) {
    __shared__ unsigned before;
    if (threadIdx.x == 0) {
        before = totals[blockIdx.x];
    }
    __syncthreads();
    unsigned low = blockIdx.x * SCAN_VALUES + threadIdx.x;
    unsigned high = low + blockDim.x;
    if (low < n) {
        values[low] += before;
    }
    if (high < n) {
        values[high] += before;
    }
}

// ---- Radix sort by four bits at a time (Satish, Harris, Garland, IPDPS 2009); stable

#define DIGIT_BITS 4
#define DIGITS (1 << DIGIT_BITS)
#define SORT_THREADS 256
#define SORT_VALUES (4 * SORT_THREADS)

// Reads four neighbours; beyond the end there are keys that stay at the end.
__device__ void load_four(int n, unsigned at, const unsigned *keys, const unsigned *values, unsigned *key,
                          unsigned *value) {
    uint4 four = make_uint4(~0u, ~0u, ~0u, ~0u);
    uint4 with = make_uint4(0, 0, 0, 0);
    if (at < n) {
        four = *(const uint4 *)(keys + at);
        with = *(const uint4 *)(values + at);
    }
    key[0] = four.x;
    key[1] = four.y;
    key[2] = four.z;
    key[3] = four.w;
    value[0] = with.x;
    value[1] = with.y;
    value[2] = with.z;
    value[3] = with.w;
}

// Sorts each 1024 pairs by one digit, one bit after the other, and counts its digits; `histogram` has all CTAs' counts
// of digit 0, then of digit 1, ...
extern "C" __global__ void split_sort(int n, int shift, unsigned *keys, unsigned *values, unsigned *histogram) {
    __shared__ unsigned flags[SORT_VALUES];
    __shared__ unsigned zeros;
    __shared__ unsigned counts[DIGITS];

    unsigned tid = threadIdx.x;
    unsigned first = blockIdx.x * SORT_VALUES;
    unsigned at = first + 4 * tid;
    unsigned key[4];
    unsigned value[4];
    unsigned place[4];
    load_four(n, at, keys, values, key, value);
    if (tid < DIGITS) {
        counts[tid] = 0;
    }
    __syncthreads();
    for (int e = 0; e < 4; e++) {
        atomicAdd(&counts[(key[e] >> shift) % DIGITS], 1);
        place[e] = 4 * tid + e;
    }

    for (int bit = shift; bit < shift + DIGIT_BITS; bit++) {
        // Zeros are counted in the low half of a word, ones in the high half.
        for (int e = 0; e < 4; e++) {
            flags[place[e]] = (key[e] >> bit) & 1 ? 1 << 16 : 1;
        }
        sum_up(flags, SORT_VALUES);
        if (tid == 0) {
            zeros = flags[SORT_VALUES - 1] & 0xffff;
            flags[SORT_VALUES - 1] = 0;
        }
        hand_down(flags, SORT_VALUES);
        for (int e = 0; e < 4; e++) {
            unsigned before = flags[place[e]];
            place[e] = (key[e] >> bit) & 1 ? zeros + (before >> 16) : before & 0xffff;
        }
        __syncthreads();
    }

    if (at < n) {
        for (int e = 0; e < 4; e++) {
            keys[first + place[e]] = key[e];
            values[first + place[e]] = value[e];
        }
    }
    if (tid < DIGITS) {
        histogram[gridDim.x * tid + blockIdx.x] = counts[tid];
    }
}

// Moves the pairs of each 1024 to where their digit begins among all; equal digits are neighbours by now, and a pair's
// rank is how many of its digit come just before it.
extern "C" __global__ void split_rearrange(int n, int shift, const unsigned *keys, unsigned *sorted_keys,
                                           const unsigned *values, unsigned *sorted_values,
                                           const unsigned *starts) {
    __shared__ unsigned digit_starts[DIGITS];
    __shared__ uint4 digits[SORT_THREADS];

    unsigned tid = threadIdx.x;
    unsigned at = blockIdx.x * SORT_VALUES + 4 * tid;
    if (tid < DIGITS) {
        digit_starts[tid] = starts[gridDim.x * tid + blockIdx.x];
    }
    unsigned key[4];
    unsigned value[4];
    unsigned digit[4];
    unsigned target[4];
    load_four(n, at, keys, values, key, value);
    for (int e = 0; e < 4; e++) {
        digit[e] = (key[e] >> shift) % DIGITS;
    }
    digits[tid] = make_uint4(digit[0], digit[1], digit[2], digit[3]);
    __syncthreads();

    if (at >= n) {
        return;
    }
    target[0] = digit_starts[digit[0]];
    const unsigned *all_digits = (const unsigned *)digits;
    for (int before = 4 * tid - 1; before >= 0 && all_digits[before] == digit[0]; before--) {
        target[0]++;
    }
    for (int e = 1; e < 4; e++) {
        target[e] = digit[e] == digit[e - 1] ? target[e - 1] + 1 : digit_starts[digit[e]];
    }
    for (int e = 0; e < 4; e++) {
        sorted_keys[target[e]] = key[e];
        sorted_values[target[e]] = value[e];
    }
}

// ---- Gridding

// Samples in the order of their cells, as two arrays.
extern "C" __global__ void reorder(unsigned n, const unsigned *order, const Sample *samples, float2 *data,
                                   float4 *locations) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        Sample sample = samples[order[i]];
        data[i] = make_float2(sample.real, sample.imaginary);
        locations[i] = make_float4(sample.kx, sample.ky, sample.kz, sample.compensation);
    }
}

// The modified Bessel function I0 as a quotient of polynomials (Blair, "Rational Chebyshev approximations for the
// modified Bessel functions I0(x) and I1(x)", Mathematics of Computation 28, 1974).
__device__ float bessel_i0(float x) {
    const float numerator[] = {
        0.210580722890567e-22f, 0.380715242345326e-19f, 0.479440257548300e-16f, 0.435125971262668e-13f,
        0.300931127112960e-10f, 0.160224679395361e-7f,  0.654858370096785e-5f,  0.202591084143397e-2f,
        0.463076284721000e0f,   0.754337328948189e2f,   0.830792541809429e4f,   0.571661130563785e6f,
        0.216415572361227e8f,   0.356644482244025e9f,   0.144048298227235e10f,
    };
    float z = x * x;
    float top = numerator[0];
    #pragma unroll
    for (int i = 1; i < 15; i++) {
        top = top * z + numerator[i];
    }
    float bottom = z * (z * (z - 0.307646912682801e4f) + 0.347626332405882e7f) - 0.144048298227235e10f;
    return __fdividef(-top, bottom);
}

// Samples that a CTA holds at a time, and grid points that a thread has along z.
#define TILE 64
#define POINTS 4

// The grid points from 0 to `size` - 1 that lie within the cutoff of those from `first` to `first + count` - 1.
__device__ int reach_below(int first) { return max(first - (int)ceilf(cutoff), 0); }
__device__ int reach_above(int first, int count, int size) { return min((int)(first + count + cutoff), size - 1); }

// A CTA of 8 x 4 x 2 threads makes 8 x 4 x 8 points of the grid. It goes through the samples of all cells in reach, row
// by row of cells, 64 samples at a time.
extern "C" __global__ void gridding(const float2 *data, const float4 *locations, const unsigned *bin_starts,
                                    float2 *grid, float *density, float beta) {
    __shared__ float real_of[TILE];
    __shared__ float imaginary_of[TILE];
    __shared__ float kx_of[TILE];
    __shared__ float ky_of[TILE];
    __shared__ float kz_of[TILE];
    __shared__ float compensation_of[TILE];

    int tid = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int tiles_y = grid_size[1] / blockDim.y;
    int x0 = blockIdx.x * blockDim.x;
    int y0 = blockIdx.y % tiles_y * blockDim.y;
    int z0 = blockIdx.y / tiles_y * (POINTS * blockDim.z);
    int x = x0 + threadIdx.x;
    int y = y0 + threadIdx.y;
    int z = z0 + threadIdx.z;

    int lowest_x = reach_below(x0);
    int highest_x = reach_above(x0, blockDim.x, grid_size[0]);
    int lowest_y = reach_below(y0);
    int highest_y = reach_above(y0, blockDim.y, grid_size[1]);
    int lowest_z = reach_below(z0);
    int highest_z = reach_above(z0, POINTS * blockDim.z, grid_size[2]);

    float2 sums[POINTS] = {};
    float counts[POINTS] = {};
    for (int cell_z = lowest_z; cell_z <= highest_z; cell_z++) {
        for (int cell_y = lowest_y; cell_y <= highest_y; cell_y++) {
            // The cells of a row are neighbours, and so are their samples.
            const unsigned *row = bin_starts + cell_z * layer_size + cell_y * grid_size[0];
            unsigned start = row[lowest_x];
            unsigned end = row[highest_x + 1];
            for (; start < end; start += TILE) {
                int held = min(end - start, TILE);
                __syncthreads();
                if (tid < held) {
                    float2 value = data[start + tid];
                    float4 location = locations[start + tid];
                    real_of[tid] = value.x;
                    imaginary_of[tid] = value.y;
                    kx_of[tid] = location.x;
                    ky_of[tid] = location.y;
                    kz_of[tid] = location.z;
                    compensation_of[tid] = location.w;
                }
                __syncthreads();
                for (int i = 0; i < held; i++) {
                    float real = real_of[i];
                    float imaginary = imaginary_of[i];
                    float compensation = compensation_of[i];
                    if ((real == 0.0f && imaginary == 0.0f) || compensation == 0.0f) {
                        continue;
                    }
                    float flat = (kx_of[i] - x) * (kx_of[i] - x) + (ky_of[i] - y) * (ky_of[i] - y);
                    #pragma unroll
                    for (int p = 0; p < POINTS; p++) {
                        float height = kz_of[i] - (z + p * (int)blockDim.z);
                        float squared = flat + height * height;
                        if (squared < cutoff_squared) {
                            float argument = beta * sqrtf(1.0f - squared * inverse_cutoff_squared);
                            float weight = bessel_i0(argument) * compensation;
                            sums[p].x += weight * real;
                            sums[p].y += weight * imaginary;
                            counts[p] += 1.0f;
                        }
                    }
                }
            }
        }
    }
    for (int p = 0; p < POINTS; p++) {
        int at = (z + p * blockDim.z) * layer_size + y * grid_size[0] + x;
        grid[at] = sums[p];
        density[at] = counts[p];
    }
}
