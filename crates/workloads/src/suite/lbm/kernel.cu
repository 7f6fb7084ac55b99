// One time step of a lattice-Boltzmann flow: 19 populations in each cell, one for each direction in which they move.
//
// A structure of arrays: every population has an array of its own over the padded lattice. A thread reads the
// populations in its cell, relaxes them towards equilibrium, and writes each to the cell that it moves to.

#define DIRECTIONS 19
#define OMEGA 1.95f
#define OBSTACLE 1
#define LID 2

// At rest, then along the axes, then along the diagonals of the planes; x grows eastward, y northward, z upward.
//                           C  N  S  E  W  T  B NE NW SE SW NT NB ST SB ET EB WT WB
__device__ constexpr int DX[DIRECTIONS] = {0, 0, 0, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0, 0, 0, 1, 1, -1, -1};
__device__ constexpr int DY[DIRECTIONS] = {0, 1, -1, 0, 0, 0, 0, 1, 1, -1, -1, 1, 1, -1, -1, 0, 0, 0, 0};
__device__ constexpr int DZ[DIRECTIONS] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1};
// Whoever moves the other way.
__device__ constexpr int BACK[DIRECTIONS] = {0, 2, 1, 4, 3, 6, 5, 10, 9, 8, 7, 14, 13, 12, 11, 18, 17, 16, 15};

// sum + c f for c = -1, 0 or 1 known to the compiler, which would have to keep a product with zero.
__device__ __forceinline__ float along(int c, float sum, float f) {
    return c > 0 ? sum + f : c < 0 ? sum - f : sum;
}

// The CTA is a row of cells. `plane` and `row` are the padded lattice's strides, `cells` its size. Two planes before
// and behind the lattice and the end of each row are padding, where what leaves the walls outward ends up.
extern "C" __global__ void lbm_step(const float *source, float *target, const int *flags, int row, int plane,
                                    int cells) {
    int here = threadIdx.x + blockIdx.x * row + (blockIdx.y + 2) * plane;

    float f[DIRECTIONS];
#pragma unroll
    for (int d = 0; d < DIRECTIONS; d++) {
        f[d] = source[d * cells + here];
    }

    int flag = flags[here];
    if (flag & OBSTACLE) {
        // A wall sends everything back.
#pragma unroll
        for (int d = 0; d < DIRECTIONS; d++) {
            target[d * cells + here + DX[d] + DY[d] * row + DZ[d] * plane] = f[BACK[d]];
        }
        return;
    }

    float density = 0.0f, ux = 0.0f, uy = 0.0f, uz = 0.0f;
#pragma unroll
    for (int d = 0; d < DIRECTIONS; d++) {
        density += f[d];
        ux = along(DX[d], ux, f[d]);
        uy = along(DY[d], uy, f[d]);
        uz = along(DZ[d], uz, f[d]);
    }
    ux /= density;
    uy /= density;
    uz /= density;
    if (flag & LID) {
        ux = 0.005f;
        uy = 0.002f;
        uz = 0.0f;
    }

    float energy = 1.5f * (ux * ux + uy * uy + uz * uz) - 1.0f;
#pragma unroll
    for (int d = 0; d < DIRECTIONS; d++) {
        float weight = d == 0 ? 1.0f / 3.0f : d < 7 ? 1.0f / 18.0f : 1.0f / 36.0f;
        float speed = along(DZ[d], along(DY[d], along(DX[d], 0.0f, ux), uy), uz);
        float equilibrium = d == 0 ? -energy : speed * (4.5f * speed + 3.0f) - energy;
        target[d * cells + here + DX[d] + DY[d] * row + DZ[d] * plane] =
            (1.0f - OMEGA) * f[d] + weight * (OMEGA * density) * equilibrium;
    }
}
