// A time step of bodies that attract one another, all pairs: a thread per body, all others through shared memory,
// a block's worth at a time.
//
// A body is a float4: its position, and its mass in w. The number of bodies is a multiple of the block's size.

__constant__ float softening_squared;

extern "C" __global__ void nbody(float4 *__restrict__ new_bodies, const float4 *__restrict__ bodies, float4 *velocities,
                                 unsigned count, float step, float damping) {
    extern __shared__ float4 tile[];

    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 body = bodies[i];
    float ax = 0.0f;
    float ay = 0.0f;
    float az = 0.0f;
    for (unsigned start = 0; start < count; start += blockDim.x) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
#pragma unroll 32
        for (unsigned j = 0; j < blockDim.x; j++) {
            float4 other = tile[j];
            float dx = other.x - body.x;
            float dy = other.y - body.y;
            float dz = other.z - body.z;
            // Softening keeps close encounters finite, and a body without effect on itself.
            float squared = dx * dx + dy * dy + dz * dz + softening_squared;
            float inverse = rsqrtf(squared);
            float pull = other.w * (inverse * inverse * inverse);
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        __syncthreads();
    }

    float4 velocity = velocities[i];
    velocity.x = (velocity.x + ax * step) * damping;
    velocity.y = (velocity.y + ay * step) * damping;
    velocity.z = (velocity.z + az * step) * damping;
    body.x += velocity.x * step;
    body.y += velocity.y * step;
    body.z += velocity.z * step;
    new_bodies[i] = body;
    velocities[i] = velocity;
}
