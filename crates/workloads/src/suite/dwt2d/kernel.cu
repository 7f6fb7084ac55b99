// One level of the reversible 5/3 wavelet transform of JPEG 2000 on one colour of an image, and the separation of
// the colours.

#define BLOCK 256

// Pixels of three bytes, read as words, become three images of integers around zero.
extern "C" __global__ void dwt2d_split(const unsigned int *pixels, int *red, int *green, int *blue, int count) {
    __shared__ unsigned int words[3 * BLOCK / 4];
    int thread = threadIdx.x;
    if (thread < 3 * BLOCK / 4) {
        words[thread] = pixels[blockIdx.x * (3 * BLOCK / 4) + thread];
    }
    __syncthreads();
    const unsigned char *bytes = (const unsigned char *)words;
    int pixel = blockIdx.x * BLOCK + thread;
    if (pixel < count) {
        red[pixel] = bytes[3 * thread] - 128;
        green[pixel] = bytes[3 * thread + 1] - 128;
        blue[pixel] = bytes[3 * thread + 2] - 128;
    }
}

#define ROWS 8          // of the image, per step of the window
#define LINES (ROWS + 3) // of the window: two rows above, one below
#define BANKS 32

// The window in shared memory: WIDTH columns and two on each side, the even ones in one array and the odd ones in
// another, half the banks apart.
template <int WIDTH> struct Window {
    static const int HALF = WIDTH / 2 + 2;
    static const int CELLS = HALF * LINES;
    static const int ODD = CELLS + BANKS - (CELLS + BANKS / 2) % BANKS;
    int cells[ODD + CELLS];

    __device__ static int column(int number) { // from -2 on
        return (number + 2) / 2 + (number & 1) * ODD;
    }
};

// Whole-sample symmetric extension: the row before the first is the second.
__device__ int mirrored(int place, int size) {
    place = abs(place);
    return max(place < size ? place : 2 * size - 2 - place, 0);
}

// A column on its way down the image.
struct Column {
    const int *top;
    int cell;
    int kept[3];
};

template <bool AT_EDGE> __device__ int load(const Column &column, int row, int rows, int columns) {
    return column.top[(AT_EDGE ? mirrored(row, rows) : row) * columns];
}

template <int WIDTH, bool AT_EDGE>
__device__ Column open_column(const int *image, int number, int first_row, int rows, int columns) {
    Column column;
    column.top = image + mirrored(blockIdx.x * WIDTH + number, columns);
    column.cell = Window<WIDTH>::column(number);
    for (int line = 0; line < 3; line++) {
        // Above the image for the topmost CTAs, whether they are at the other edges or not.
        column.kept[line] = load<true>(column, first_row - 2 + line, rows, columns);
    }
    return column;
}

// Puts the next rows of a column below the three kept ones and transforms the column: odd lines become their
// difference to the neighbours' average, even ones smooth.
template <int WIDTH, bool AT_EDGE>
__device__ void fill_column(Column &column, int *cells, int row, int rows, int columns) {
    const int HALF = Window<WIDTH>::HALF;
    int *cell = cells + column.cell;
    for (int line = 0; line < 3; line++) {
        cell[line * HALF] = column.kept[line];
    }
    for (int line = 3; line < LINES; line++) {
        cell[line * HALF] = load<AT_EDGE>(column, row - 2 + line, rows, columns);
    }
    for (int line = 0; line < 3; line++) {
        column.kept[line] = cell[(ROWS + line) * HALF];
    }
    for (int line = 1; line < LINES; line += 2) {
        cell[line * HALF] -= (cell[(line - 1) * HALF] + cell[(line + 1) * HALF]) / 2;
    }
    for (int line = 2; line < LINES - 1; line += 2) {
        cell[line * HALF] += (cell[(line - 1) * HALF] + cell[(line + 1) * HALF] + 2) / 4;
    }
}

template <int WIDTH, bool AT_EDGE>
__device__ void slide(const int *image, int *bands, int columns, int rows, int steps, int *cells) {
    const int HALF = Window<WIDTH>::HALF;
    int thread = threadIdx.x;
    int first_row = blockIdx.y * ROWS * steps;
    Column column = open_column<WIDTH, AT_EDGE>(image, thread, first_row, rows, columns);
    Column side;
    if (thread < 3) {
        int number = thread == 0 ? WIDTH : thread - 3;
        side = open_column<WIDTH, AT_EDGE>(image, number, first_row, rows, columns);
    }

    // The first half of the threads writes even columns, the second half odd ones: to the left and the right
    // bands, which follow each other as low-low, high-low, low-high, high-high.
    int number = thread < WIDTH / 2 ? 2 * thread : 2 * thread - WIDTH + 1;
    int out_column = blockIdx.x * WIDTH + number;
    int out_cell = Window<WIDTH>::column(number);
    int left = (columns + 1) / 2;
    int top = (rows + 1) / 2;
    int odd = number & 1;
    int stride = odd ? columns / 2 : left;
    int *low = bands + out_column / 2 + (odd ? left * top : 0);
    int *high = bands + out_column / 2 + columns * top + (odd ? left * (rows / 2) : 0);

    for (int step = 0; step < steps; step++) {
        int row = first_row + step * ROWS;
        fill_column<WIDTH, AT_EDGE>(column, cells, row, rows, columns);
        if (thread < 3) {
            fill_column<WIDTH, AT_EDGE>(side, cells, row, rows, columns);
        }
        __syncthreads();

        // The window's rows lie one after the other, and are transformed as if they were one; what this makes of
        // the cells between two rows is never used.
        int *even_cells = cells + 2 * HALF;
        int *odd_cells = even_cells + Window<WIDTH>::ODD;
        for (int i = thread; i < ROWS * HALF - 1; i += WIDTH) {
            odd_cells[i] -= (even_cells[i] + even_cells[i + 1]) / 2;
        }
        __syncthreads();
        for (int i = thread; i < ROWS * HALF - 1; i += WIDTH) {
            even_cells[i + 1] += (odd_cells[i] + odd_cells[i + 1] + 2) / 4;
        }
        __syncthreads();

        for (int line = 0; line < ROWS; line += 2) {
            if (!AT_EDGE || (out_column < columns && row + line < rows)) {
                low[(row + line) / 2 * stride] = cells[out_cell + (2 + line) * HALF];
            }
            if (!AT_EDGE || (out_column < columns && row + line + 1 < rows)) {
                high[(row + line) / 2 * stride] = cells[out_cell + (3 + line) * HALF];
            }
        }
        __syncthreads();
    }
}

// A CTA slides a window of WIDTH columns down its strip of the image, a thread per column. Only CTAs at the right
// and the lower edge check where they are.
template <int WIDTH>
__device__ void forward53(const int *image, int *bands, int columns, int rows, int steps) {
    __shared__ Window<WIDTH> window;
    int end_column = (blockIdx.x + 1) * WIDTH + 1;
    int end_row = (blockIdx.y + 1) * ROWS * steps + 1;
    if (end_column >= columns || end_row >= rows) {
        slide<WIDTH, true>(image, bands, columns, rows, steps, window.cells);
    } else {
        slide<WIDTH, false>(image, bands, columns, rows, steps, window.cells);
    }
}

extern "C" __global__ void dwt2d_forward_192(const int *image, int *bands, int columns, int rows, int steps) {
    forward53<192>(image, bands, columns, rows, steps);
}

extern "C" __global__ void dwt2d_forward_128(const int *image, int *bands, int columns, int rows, int steps) {
    forward53<128>(image, bands, columns, rows, steps);
}

extern "C" __global__ void dwt2d_forward_64(const int *image, int *bands, int columns, int rows, int steps) {
    forward53<64>(image, bands, columns, rows, steps);
}
