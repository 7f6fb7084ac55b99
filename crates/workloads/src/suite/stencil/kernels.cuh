// A 7-point stencil as in kernel.cu, with all planes in tiles. A CTA has two of them at a time, with the points around its own.
// What it writes takes the place of the plane that was read.

#define X 32
#define Y 4
#define WIDTH (2 * X)

using Block = Cta<X, Y>;

extern "C" __global__ void stencil(float c0, float c1, const float *now, float *next, int nx, int ny, int nz) {
    // Plane z has storage z % 2.
    __shared__ CHUNK float storages[2][(WIDTH + 2) * (Y + 2) + 4];

    // What the CTA writes: its points inside the grid's surface.
    int first_x = max((int)blockIdx.x * WIDTH, 1);
    int first_y = max((int)blockIdx.y * Y, 1);
    int columns = min((int)(blockIdx.x + 1) * WIDTH, nx - 1) - first_x;
    int rows = min((int)(blockIdx.y + 1) * Y, ny - 1) - first_y;
    if (rows <= 0 || columns <= 0) {
        return;
    }
    int layer = nx * ny;
    const float *around = now + (first_y - 1) * nx + first_x - 1;
    float *written = next + first_y * nx + first_x;
    REST<float, READS, Y + 2, WIDTH + 2> plane(storages[0], 0, around, rows + 2, columns + 2, nx);
    REST<float, READS, Y + 2, WIDTH + 2> other(storages[1], 1, around + layer, rows + 2, columns + 2, nx);
    Block::begin(plane, other);

    // A thread's place among those that are written, as far as it has one.
    int row = (int)(blockIdx.y * Y + threadIdx.y) - first_y;
    int column[2];
    bool inner[2];
    float below[2] = {};
    float value[2] = {};
    for (int half = 0; half < 2; half++) {
        column[half] = (int)(blockIdx.x * WIDTH + threadIdx.x + half * X) - first_x;
        inner[half] = row >= 0 && row < rows && column[half] >= 0 && column[half] < columns;
        if (inner[half]) {
            below[half] = plane(row + 1, column[half] + 1);
        }
    }
    for (int z = 1; z < nz - 1; z++) {
        // The plane that was above is the one to work on; the one below, or what was written, makes room for the next above.
        auto above = plane;
        plane = other;
        above.move(around + (z + 1) * layer);
        Block::again(above);
        for (int half = 0; half < 2; half++) {
            if (inner[half]) {
                int r = row + 1;
                int c = column[half] + 1;
                value[half] = (above(r, c) + below[half] + plane(r + 1, c) + plane(r - 1, c) + plane(r, c + 1)
                               + plane(r, c - 1)) * c1
                    - plane(r, c) * c0;
                below[half] = plane(r, c);
            }
        }
        REST<float, WRITES, Y, WIDTH> result(storages[z & 1], z & 1, written + z * layer, rows, columns, nx);
        Block::again(result);
        for (int half = 0; half < 2; half++) {
            if (inner[half]) {
                result(row, column[half]) = value[half];
            }
        }
        Block::end(result);
        other = above;
    }
}
