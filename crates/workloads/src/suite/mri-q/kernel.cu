// Q of an MRI reconstruction in non-Cartesian space: for every voxel the sum over k-space samples of
// |phi|^2 exp(2 pi i k.x).

// Samples of one launch.
#define CHUNK 1024

struct Sample {
    float kx;
    float ky;
    float kz;
    // |phi|^2
    float weight;
};

__constant__ Sample samples[CHUNK];

extern "C" __global__ void compute_phi_mag(int count, const float *phi_real, const float *phi_imaginary,
                                           float *phi_mag) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) {
        float real = phi_real[k];
        float imaginary = phi_imaginary[k];
        phi_mag[k] = real * real + imaginary * imaginary;
    }
}

// Adds `count` samples, which all threads read at the same time, to one voxel per thread. The grid fits the voxels.
extern "C" __global__ void compute_q(int count, const float *x, const float *y, const float *z, float *q_real,
                                     float *q_imaginary) {
    const float two_pi = 6.2831853071795864769f;
    int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    float voxel_x = x[voxel];
    float voxel_y = y[voxel];
    float voxel_z = z[voxel];
    float real = q_real[voxel];
    float imaginary = q_imaginary[voxel];
    #pragma unroll 2
    for (int k = 0; k < count; k++) {
        float angle = two_pi * (samples[k].kx * voxel_x + samples[k].ky * voxel_y + samples[k].kz * voxel_z);
        real += samples[k].weight * __cosf(angle);
        imaginary += samples[k].weight * __sinf(angle);
    }
    q_real[voxel] = real;
    q_imaginary[voxel] = imaginary;
}
