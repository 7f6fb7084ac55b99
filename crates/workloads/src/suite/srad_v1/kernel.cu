// Speckle reducing anisotropic diffusion (SRAD) of an ultrasound image, a pixel per thread.
//
// The image lies column by column. Constants of the formulas are doubles, as in Rodinia, so parts of them are
// computed in f64.

#define BLOCK 512

// Undoes the compression of the image: grey values 0..255 become 1..e.
extern "C" __global__ void extract(int pixels, float *image) {
    int at = blockIdx.x * BLOCK + threadIdx.x;
    if (at < pixels) {
        image[at] = expf(image[at] / 255);
    }
}

// The terms of the sums over the image and over its squares.
extern "C" __global__ void prepare(int pixels, float *image, float *sums, float *sums2) {
    int at = blockIdx.x * BLOCK + threadIdx.x;
    if (at < pixels) {
        sums[at] = image[at];
        sums2[at] = image[at] * image[at];
    }
}

// Adds up BLOCK terms, which lie `stride` apart, and leaves their sum where the first of them was. In the last CTA
// there may be fewer: the tree covers a power of two of them, and one thread adds the others one by one.
extern "C" __global__ void reduce(int terms, int stride, float *sums, float *sums2) {
    __shared__ float partial[BLOCK];
    __shared__ float partial2[BLOCK];
    int tx = threadIdx.x;
    int first = blockIdx.x * BLOCK;
    int present = min(BLOCK, terms - first);
    int tree = BLOCK;
    while (tree > present) {
        tree /= 2;
    }

    if (tx < present) {
        partial[tx] = sums[(first + tx) * stride];
        partial2[tx] = sums2[(first + tx) * stride];
    }
    __syncthreads();

    for (int span = 2; span <= tree; span *= 2) {
        if ((tx + 1) % span == 0 && tx < tree) {
            partial[tx] += partial[tx - span / 2];
            partial2[tx] += partial2[tx - span / 2];
        }
        __syncthreads();
    }

    if (tx == tree - 1) {
        float sum = partial[tx];
        float sum2 = partial2[tx];
        for (int i = first + tree; i < first + present; i++) {
            sum += sums[i * stride];
            sum2 += sums2[i * stride];
        }
        sums[first * stride] = sum;
        sums2[first * stride] = sum2;
    }
}

// The differences to the four neighbours, and how freely the pixel diffuses: little where the image varies more
// than speckle (q0sqr) does, that is at edges. The index arrays name the neighbours, also at the image's border.
extern "C" __global__ void srad(int rows, int pixels, int *to_north, int *to_south, int *to_east, int *to_west,
                                float *north, float *south, float *east, float *west, float q0sqr,
                                float *coefficient, float *image) {
    int at = blockIdx.x * BLOCK + threadIdx.x;
    if (at >= pixels) {
        return;
    }
    int row = at % rows;
    int column = at / rows;
    float here = image[at];
    float n = image[to_north[row] + rows * column] - here;
    float s = image[to_south[row] + rows * column] - here;
    float w = image[row + rows * to_west[column]] - here;
    float e = image[row + rows * to_east[column]] - here;

    float gradient2 = (n * n + s * s + w * w + e * e) / (here * here);
    float laplacian = (n + s + w + e) / here;
    float numerator = 0.5 * gradient2 - (1.0 / 16.0) * (laplacian * laplacian);
    float denominator = 1 + 0.25 * laplacian;
    float qsqr = numerator / (denominator * denominator);
    float excess = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
    float c = 1.0 / (1.0 + excess);
    if (c < 0) {
        c = 0;
    } else if (c > 1) {
        c = 1;
    }

    north[at] = n;
    south[at] = s;
    west[at] = w;
    east[at] = e;
    coefficient[at] = c;
}

// Lets the image diffuse for one time step of length `lambda`.
extern "C" __global__ void srad2(float lambda, int rows, int pixels, int *to_south, int *to_east, float *north,
                                 float *south, float *east, float *west, float *coefficient, float *image) {
    int at = blockIdx.x * BLOCK + threadIdx.x;
    if (at >= pixels) {
        return;
    }
    int row = at % rows;
    int column = at / rows;
    float c = coefficient[at];
    float c_south = coefficient[to_south[row] + rows * column];
    float c_east = coefficient[row + rows * to_east[column]];
    float divergence = c * north[at] + c_south * south[at] + c * west[at] + c_east * east[at];
    image[at] = image[at] + 0.25 * lambda * divergence;
}

// Compresses the image again.
extern "C" __global__ void compress(int pixels, float *image) {
    int at = blockIdx.x * BLOCK + threadIdx.x;
    if (at < pixels) {
        image[at] = logf(image[at]) * 255;
    }
}
