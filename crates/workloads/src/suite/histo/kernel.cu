// A large histogram whose counts saturate at 255, of input that falls mostly into one region of it.
//
// The bins are split into ranges of 24 K. The ranges around the mean, found by a sample of the input, are counted in
// shared memory, four 8-bit counts to a word; what falls outside of them is rare and counted in global memory.

#define RANGE_ROWS 24
#define ROW_WORDS 256
#define RANGE_WORDS (RANGE_ROWS * ROW_WORDS)
#define RANGE_BINS (4 * RANGE_WORDS)

#define PRESCAN_THREADS 512
#define LINES 16
#define COUNT_MAX 255u

// Widens `ranges` = {lowest, highest} to ten standard deviations around the mean, for an eighth of each CTA's part of
// the input. A thread's own mean and deviation stand for the whole: their averages are close enough.
extern "C" __global__ void histo_prescan(const unsigned *input, int size, unsigned *ranges) {
    __shared__ float means[PRESCAN_THREADS];
    __shared__ float deviations[PRESCAN_THREADS];

    int tid = threadIdx.x;
    int part = size / gridDim.x;
    int begin = blockIdx.x * part + tid;
    int end = blockIdx.x * part + part / 8;

    float sum = 0.0f;
    unsigned count = 0;
    for (int i = begin; i < end; i += blockDim.x) {
        sum += input[i];
        count++;
    }
    float mean = sum / count;
    float squares = 0.0f;
    for (int i = begin; i < end; i += blockDim.x) {
        squares += (input[i] - mean) * (input[i] - mean);
    }
    means[tid] = mean;
    deviations[tid] = sqrtf(squares / count);

    for (int active = PRESCAN_THREADS / 2; active > 1; active /= 2) {
        // The last warp needs no barrier of the CTA.
        if (active >= 32) {
            __syncthreads();
        } else {
            __syncwarp();
        }
        if (tid < active) {
            means[tid] += means[tid + active];
            deviations[tid] += deviations[tid + active];
        }
        if (active < 32 && tid >= 32) {
            return;
        }
    }
    __syncwarp();
    if (tid == 0) {
        float centre = (means[0] + means[1]) / PRESCAN_THREADS;
        float width = 10.0f * ((deviations[0] + deviations[1]) / PRESCAN_THREADS);
        atomicMin(&ranges[0], (unsigned)(centre - width) / RANGE_BINS);
        atomicMax(&ranges[1], (unsigned)(centre + width) / RANGE_BINS);
    }
}

// Where a bin is: its range, row, word in the row, and the first bit of its count.
__device__ uchar4 place_of(unsigned bin) {
    unsigned char range = bin / RANGE_BINS;
    unsigned char row = (bin / (4 * ROW_WORDS)) % RANGE_ROWS;
    unsigned char word = (bin / 4) % ROW_WORDS;
    unsigned char bit = 8 * (bin % 4);
    return make_uchar4(range, row, word, bit);
}

// Bins to places, a CTA for 16 lines of the image, a thread for two neighbours in each. Lines of input begin at an
// even pixel; of places they are packed, with the first neighbours before the second.
extern "C" __global__ void histo_intermediates(const uint2 *input, unsigned height, unsigned width,
                                               unsigned input_pitch, uchar4 *places) {
    unsigned line = LINES * blockIdx.x;
    const uint2 *load = input + line * input_pitch + threadIdx.x;
    uchar4 *store = places + line * width + threadIdx.x;
    bool both = width % 2 == 0 || threadIdx.x < blockDim.x - 1;
    #pragma unroll
    for (int i = 0; i < LINES; i++) {
        if (line + i < height) {
            uint2 bins = *load;
            *store = place_of(bins.x);
            if (both) {
                store[blockDim.x] = place_of(bins.y);
            }
        }
        load += input_pitch;
        store += width;
    }
}

// Counts a pixel outside of the ranges from `lowest` to `highest`. Two 16-bit counts share a word; threads that race
// past COUNT_MAX overshoot by less than there are threads.
__device__ void count_outside(unsigned *outside, unsigned lowest, unsigned highest, uchar4 place) {
    if (place.x < lowest || place.x > highest) {
        unsigned bin = place.x * RANGE_BINS + (place.y * ROW_WORDS + place.z) * 4 + place.w / 8;
        unsigned bit = 16 * (bin % 2);
        if (((outside[bin / 2] >> bit) & 0xffff) < COUNT_MAX) {
            atomicAdd(&outside[bin / 2], 1u << bit);
        }
    }
}

// Counts a pixel of the CTA's own range. A count that overflows carries into the next one of its word, and that
// perhaps into the one after it: `overflow` has what makes each of them right again.
__device__ void count_inside(unsigned (*counts)[ROW_WORDS], unsigned *overflow, unsigned range, uchar4 place) {
    if (place.x != range) {
        return;
    }
    unsigned before = atomicAdd(&counts[place.y][place.z], 1u << place.w);
    unsigned bin = range * RANGE_BINS + (place.y * ROW_WORDS + place.z) * 4 + place.w / 8;
    unsigned bit = place.w;
    if (((before >> bit) & 0xff) == COUNT_MAX) {
        atomicAdd(&overflow[bin], 256);
        for (bit += 8, bin++; bit < 32; bit += 8, bin++) {
            bool wraps = ((before >> bit) & 0xff) == COUNT_MAX;
            // It took a one too many; if it wrapped, it lost 256 more.
            atomicAdd(&overflow[bin], wraps ? 255u : (unsigned)-1);
            if (!wraps) {
                break;
            }
        }
    }
}

// CTAs of one x share a part of the input, each counts one range of it; those of y = 0 count the outside too.
extern "C" __global__ void histo_main(const uchar4 *places, unsigned count, unsigned lowest, unsigned highest,
                                      unsigned bins, unsigned *partial, unsigned *outside, unsigned *overflow) {
    __shared__ unsigned counts[RANGE_ROWS][ROW_WORDS];
    unsigned *words = counts[0];
    unsigned range = lowest + blockIdx.y;

    for (unsigned i = threadIdx.x; i < RANGE_WORDS; i += blockDim.x) {
        words[i] = 0;
    }
    __syncthreads();

    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.y == 0) {
        for (; i < count; i += blockDim.x * gridDim.x) {
            uchar4 place = places[i];
            count_inside(counts, overflow, range, place);
            count_outside(outside, lowest, highest, place);
        }
    } else {
        for (; i < count; i += blockDim.x * gridDim.x) {
            count_inside(counts, overflow, range, places[i]);
        }
    }

    __syncthreads();
    unsigned *target = partial + blockIdx.x * (bins / 4) + range * RANGE_WORDS;
    for (unsigned word = threadIdx.x; word < RANGE_WORDS; word += blockDim.x) {
        target[word] = words[word];
    }
}

__device__ uchar4 saturated(uint4 counts) {
    return make_uchar4(min(counts.x, COUNT_MAX), min(counts.y, COUNT_MAX), min(counts.z, COUNT_MAX),
                       min(counts.w, COUNT_MAX));
}

// Bins 4 from..4 to, counted in global memory; the counts are cleared for the next run.
__device__ void finish_outside(unsigned from, unsigned to, ushort4 *outside, uchar4 *histogram) {
    for (unsigned i = from + blockIdx.x * blockDim.x + threadIdx.x; i < to; i += gridDim.x * blockDim.x) {
        ushort4 counts = outside[i];
        outside[i] = make_ushort4(0, 0, 0, 0);
        histogram[i] = saturated(make_uint4(counts.x, counts.y, counts.z, counts.w));
    }
}

// Adds the `parts` partial histograms of the ranges in the middle, saturates, and clears for the next run.
extern "C" __global__ void histo_final(unsigned lowest, unsigned highest, unsigned bins, unsigned parts,
                                       const unsigned *partial, ushort4 *outside, uint4 *overflow,
                                       uchar4 *histogram) {
    unsigned middle = lowest * RANGE_WORDS;
    unsigned upper = (highest + 1) * RANGE_WORDS;

    finish_outside(0, middle, outside, histogram);
    for (unsigned i = middle + blockIdx.x * blockDim.x + threadIdx.x; i < upper; i += gridDim.x * blockDim.x) {
        uint4 counts = overflow[i];
        overflow[i] = make_uint4(0, 0, 0, 0);
        #pragma unroll 14
        for (unsigned part = 0; part < parts; part++) {
            unsigned four = partial[part * (bins / 4) + i];
            counts.x += four & 0xff;
            counts.y += (four >> 8) & 0xff;
            counts.z += (four >> 16) & 0xff;
            counts.w += four >> 24;
        }
        histogram[i] = saturated(counts);
    }
    finish_outside(upper, bins / 4, outside, histogram);
}
