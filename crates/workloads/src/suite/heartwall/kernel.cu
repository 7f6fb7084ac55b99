// Follows points of a heart's wall from frame to frame of an ultrasound sequence. A CTA has one point, and searches
// the surroundings of the point for the place that looks most like a template: the largest normalised
// cross-correlation.
//
// Images lie column by column. Every phase leaves its result in global memory, in a matrix of the point's own, and a
// barrier ends it. In the comments the template has n rows and columns and the surroundings have m; a correlation
// is then computed for the n + m - 1 places in each direction where the two overlap.

#define THREADS 256
#define MOST_TEMPLATE 51
#define MOST_PLACES 131

struct Sizes {
    int frame_rows;
    int frames;
    int update_period;
    int template_radius;
    int template_rows; // n
    int template_elements;
    int window_radius;
    int window_rows; // m
    int window_elements;
    int places; // n + m - 1
    int place_elements;
    int padded_rows; // m + 2 n
    int padded_elements;
    int strip_elements; // places x padded_rows
    int reach;          // how far a point may move
};

__constant__ Sizes sizes;
__constant__ float kept_share;

// The matrices of all points: one per point in each.
struct Scratch {
    float *padded;
    float *below;
    float *strips;
    float *right;
};

#define FOR_EACH(element, count) for (int element = threadIdx.x; element < (count); element += THREADS)

// The sum of each n x n box of `values`, zero outside: cumulative sums down the columns, their differences n rows
// apart, then the same along the rows.
__device__ void box_sums(const float *values, const Scratch &scratch, float *sums) {
    int n = sizes.template_rows;
    FOR_EACH(e, sizes.padded_elements) {
        int row = e % sizes.padded_rows - n;
        int column = e / sizes.padded_rows - n;
        bool inside = row >= 0 && row < sizes.window_rows && column >= 0 && column < sizes.window_rows;
        scratch.padded[e] = inside ? values[column * sizes.window_rows + row] : 0.0f;
    }
    __syncthreads();
    FOR_EACH(column, sizes.padded_rows) {
        float sum = 0.0f;
        for (int at = column * sizes.padded_rows; at < (column + 1) * sizes.padded_rows; at++) {
            scratch.padded[at] += sum;
            sum = scratch.padded[at];
        }
    }
    __syncthreads();

    FOR_EACH(e, sizes.strip_elements) {
        int row = e % sizes.places;
        int column = e / sizes.places;
        scratch.below[e] = scratch.padded[column * sizes.padded_rows + row + n];
    }
    __syncthreads();
    FOR_EACH(e, sizes.strip_elements) {
        int row = e % sizes.places;
        int column = e / sizes.places;
        scratch.strips[e] = scratch.padded[column * sizes.padded_rows + row];
    }
    __syncthreads();
    FOR_EACH(e, sizes.strip_elements) {
        scratch.strips[e] = scratch.below[e] - scratch.strips[e];
    }
    __syncthreads();
    FOR_EACH(row, sizes.places) {
        float sum = 0.0f;
        for (int at = row; at < sizes.strip_elements; at += sizes.places) {
            scratch.strips[at] += sum;
            sum = scratch.strips[at];
        }
    }
    __syncthreads();

    FOR_EACH(e, sizes.place_elements) {
        int row = e % sizes.places;
        int column = e / sizes.places;
        scratch.right[e] = scratch.strips[(column + n) * sizes.places + row];
    }
    __syncthreads();
    FOR_EACH(e, sizes.place_elements) {
        int row = e % sizes.places;
        int column = e / sizes.places;
        sums[e] = scratch.strips[column * sizes.places + row];
    }
    __syncthreads();
    FOR_EACH(e, sizes.place_elements) {
        sums[e] = scratch.right[e] - sums[e];
    }
    __syncthreads();
}

// The frame's pixels around a point.
__device__ float pixel(const float *frame, int first_row, int first_column, int rows, int element) {
    int row = first_row + element % rows;
    int column = first_column + element / rows;
    return frame[column * sizes.frame_rows + row];
}

extern "C" __global__ void heartwall(int frame_number, const float *frame, int *rows, int *columns, int *track_rows,
                                     int *track_columns, float *templates, float *windows, float *convolutions,
                                     float *all_padded, float *all_below, float *all_strips, float *all_right,
                                     float *all_sums, float *all_squares, float *correlations,
                                     float *template_squares, float *masks, float *masked_correlations) {
    __shared__ float rotated[MOST_TEMPLATE * MOST_TEMPLATE];
    __shared__ float partial_sums[MOST_TEMPLATE];
    __shared__ float partial_squares[MOST_TEMPLATE];
    __shared__ float template_sum;
    __shared__ float template_square_sum;
    __shared__ float template_deviation;
    __shared__ float line_values[MOST_PLACES];
    __shared__ int line_places[MOST_PLACES];

    int point = blockIdx.x;
    int thread = threadIdx.x;
    int n = sizes.template_rows;
    int m = sizes.window_rows;
    int track = point * sizes.frames + frame_number;
    float *pattern = templates + point * sizes.template_elements;

    // The first frame gives the templates.
    if (frame_number == 0) {
        if (thread == 0) {
            track_rows[track] = rows[point];
            track_columns[track] = columns[point];
        }
        int first_row = rows[point] - sizes.template_radius;
        int first_column = columns[point] - sizes.template_radius;
        FOR_EACH(e, sizes.template_elements) {
            pattern[e] = pixel(frame, first_row, first_column, n, e);
        }
        return;
    }

    float *window = windows + point * sizes.window_elements;
    float *convolution = convolutions + point * sizes.place_elements;
    float *sums = all_sums + point * sizes.place_elements;
    float *squares = all_squares + point * sizes.window_elements;
    float *correlation = correlations + point * sizes.place_elements;
    float *pattern_squares = template_squares + point * sizes.template_elements;
    float *mask = masks + point * sizes.place_elements;
    float *masked = masked_correlations + point * sizes.place_elements;
    Scratch scratch;
    scratch.padded = all_padded + point * sizes.padded_elements;
    scratch.below = all_below + point * sizes.strip_elements;
    scratch.strips = all_strips + point * sizes.strip_elements;
    scratch.right = all_right + point * sizes.place_elements;

    // Selection of the surroundings.
    {
        int first_row = rows[point] - sizes.window_radius;
        int first_column = columns[point] - sizes.window_radius;
        FOR_EACH(e, sizes.window_elements) {
            window[e] = pixel(frame, first_row, first_column, m, e);
        }
    }
    __syncthreads();

    // Convolution with the template turned round, which is a correlation.
    FOR_EACH(e, sizes.template_elements) {
        int row = n - 1 - e % n;
        int column = n - 1 - e / n;
        rotated[e] = pattern[column * n + row];
    }
    __syncthreads();
    FOR_EACH(e, sizes.place_elements) {
        int i = e % sizes.places;
        int j = e / sizes.places;
        int first_row = max(0, i - m + 1);
        int rows_under = min(n - 1, i) - first_row + 1;
        int last_column = min(n - 1, j);
        float sum = 0.0f;
        for (int column = max(0, j - m + 1); column <= last_column; column++) {
            const float *factor = &rotated[column * n + first_row];
            const float *value = &window[(j - column) * m + i - first_row];
            for (int row = 0; row < rows_under; row++) {
                sum += *factor++ * *value--;
            }
        }
        convolution[e] = sum;
    }
    __syncthreads();

    // Sums of the surroundings under the template, and of their squares, and from these their deviation.
    box_sums(window, scratch, sums);
    FOR_EACH(e, sizes.window_elements) {
        float value = window[e];
        squares[e] = value * value;
    }
    __syncthreads();
    box_sums(squares, scratch, correlation);
    FOR_EACH(e, sizes.place_elements) {
        float sum = sums[e];
        float rest = correlation[e] - sum * sum / sizes.template_elements;
        if (rest < 0.0f) {
            rest = 0.0f;
        }
        correlation[e] = sqrtf(rest);
    }
    __syncthreads();

    // Sums of the template and of its squares, and its deviation.
    FOR_EACH(e, sizes.template_elements) {
        float value = pattern[e];
        pattern_squares[e] = value * value;
    }
    __syncthreads();
    FOR_EACH(column, n) {
        float sum = 0.0f;
        for (int row = 0; row < n; row++) {
            sum += pattern[column * n + row];
        }
        partial_sums[column] = sum;
    }
    __syncthreads();
    FOR_EACH(row, n) {
        float sum = 0.0f;
        for (int column = 0; column < n; column++) {
            sum += pattern_squares[column * n + row];
        }
        partial_squares[row] = sum;
    }
    __syncthreads();
    if (thread == 0) {
        template_sum = 0.0f;
        for (int column = 0; column < n; column++) {
            template_sum += partial_sums[column];
        }
    } else if (thread == 1) {
        template_square_sum = 0.0f;
        for (int row = 0; row < n; row++) {
            template_square_sum += partial_squares[row];
        }
    }
    __syncthreads();
    if (thread == 0) {
        float mean = template_sum / sizes.template_elements;
        float variance = template_square_sum / sizes.template_elements - mean * mean;
        template_deviation = sqrtf(float(sizes.template_elements - 1)) * sqrtf(variance);
    }
    __syncthreads();

    // Correlation.
    FOR_EACH(e, sizes.place_elements) {
        correlation[e] *= template_deviation;
    }
    __syncthreads();
    FOR_EACH(e, sizes.place_elements) {
        convolution[e] -= sums[e] * template_sum / sizes.template_elements;
    }
    __syncthreads();
    FOR_EACH(e, sizes.place_elements) {
        correlation[e] = convolution[e] / correlation[e];
    }
    __syncthreads();

    // A point moves little between frames: only places near its last one count. The mask is a convolution of
    // that one place with a square of ones.
    int center = sizes.window_radius + sizes.template_radius;
    int last_place = (center + track_columns[track - 1] - columns[point]) * sizes.places + center
        + track_rows[track - 1] - rows[point];
    FOR_EACH(e, sizes.place_elements) {
        mask[e] = e == last_place ? 1.0f : 0.0f;
    }
    __syncthreads();
    FOR_EACH(e, sizes.place_elements) {
        int i = e % sizes.places + sizes.reach / 2;
        int j = e / sizes.places + sizes.reach / 2;
        int last_row = min(sizes.places - 1, i);
        int last_column = min(sizes.places - 1, j);
        float sum = 0.0f;
        for (int column = max(0, j - sizes.reach + 1); column <= last_column; column++) {
            for (int row = max(0, i - sizes.reach + 1); row <= last_row; row++) {
                sum += mask[column * sizes.places + row];
            }
        }
        masked[e] = correlation[e] * sum;
    }
    __syncthreads();

    // The largest in each column, then of all: the first of equals.
    FOR_EACH(line, sizes.places) {
        float largest = 0.0f;
        int place = 0;
        for (int at = line * sizes.places; at < (line + 1) * sizes.places; at++) {
            float value = fabsf(masked[at]);
            if (value > largest) {
                largest = value;
                place = at;
            }
        }
        line_values[line] = largest;
        line_places[line] = place;
    }
    __syncthreads();
    if (thread == 0) {
        float largest = 0.0f;
        int place = 0;
        for (int line = 0; line < sizes.places; line++) {
            if (line_values[line] > largest) {
                largest = line_values[line];
                place = line_places[line];
            }
        }
        track_rows[track] = rows[point] + place % sizes.places - center;
        track_columns[track] = columns[point] + place / sizes.places - center;
    }
    __syncthreads();

    // Now and then the template follows what the point has become, in double as in the original.
    if (frame_number % sizes.update_period == 0) {
        rows[point] = track_rows[track];
        columns[point] = track_columns[track];
        int first_row = rows[point] - sizes.template_radius;
        int first_column = columns[point] - sizes.template_radius;
        FOR_EACH(e, sizes.template_elements) {
            pattern[e] = kept_share * pattern[e] + (1.00 - kept_share) * pixel(frame, first_row, first_column, n, e);
        }
    }
}
