// Compressible inviscid flow on an unstructured mesh of tetrahedra, finite volumes with artificial viscosity.
//
// Every quantity of the elements is a row of `elements` floats, a multiple of the block. The five variables are
// density, three momenta, and energy, all per volume. Entry `face * elements + i` of `neighbours` is the element behind
// that face of element i, or one of the two boundaries below 0.

#define RATIO_OF_HEATS 1.4f
#define SMOOTHING 0.2f
#define STAGES 3
#define FACES 4
#define WALL -1
#define FAR_FIELD -2

// The undisturbed flow: its variables, and what it carries across a unit of area per direction.
__constant__ float far_variables[5];
__constant__ float far_momentum_flux[9];
__constant__ float far_energy_flux[3];

// An element's variables and what follows from them.
struct Flow {
    float density;
    float momentum[3];
    float energy;
    float speed;
    float pressure;
    float sound;
    float momentum_flux[3][3];
    float energy_flux[3];
};

__device__ Flow flow_of(const float *variables, int i, int elements) {
    Flow flow;
    flow.density = variables[i];
    for (int d = 0; d < 3; d++) {
        flow.momentum[d] = variables[i + (1 + d) * elements];
    }
    flow.energy = variables[i + 4 * elements];

    float velocity[3];
    for (int d = 0; d < 3; d++) {
        velocity[d] = flow.momentum[d] / flow.density;
    }
    float square = velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2];
    flow.speed = sqrtf(square);
    flow.pressure = (RATIO_OF_HEATS - 1.0f) * (flow.energy - 0.5f * flow.density * square);
    flow.sound = sqrtf(RATIO_OF_HEATS * flow.pressure / flow.density);

    for (int d = 0; d < 3; d++) {
        flow.momentum_flux[d][d] = velocity[d] * flow.momentum[d] + flow.pressure;
        for (int e = d + 1; e < 3; e++) {
            flow.momentum_flux[d][e] = flow.momentum_flux[e][d] = velocity[d] * flow.momentum[e];
        }
        flow.energy_flux[d] = velocity[d] * (flow.energy + flow.pressure);
    }
    return flow;
}

extern "C" __global__ void cfd_initialize(int elements, float *variables) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int variable = 0; variable < 5; variable++) {
        variables[i + variable * elements] = far_variables[variable];
    }
}

// The longest stable time step of an element, divided by its size.
extern "C" __global__ void cfd_step_factor(int elements, const float *variables, const float *sizes,
                                           float *step_factors) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Flow flow = flow_of(variables, i, elements);
    step_factors[i] = 0.5f / (sqrtf(sizes[i]) * (flow.speed + flow.sound));
}

// What flows into every element through its faces. Normals point inwards and are as long as the face is large; of
// face f the component d is in row `f + FACES * d`.
extern "C" __global__ void cfd_flux(int elements, const int *neighbours, const float *normals, const float *variables,
                                    float *fluxes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Flow own = flow_of(variables, i, elements);
    float density = 0.0f;
    float momentum[3] = {0.0f, 0.0f, 0.0f};
    float energy = 0.0f;

#pragma unroll
    for (int face = 0; face < FACES; face++) {
        int neighbour = neighbours[i + face * elements];
        float normal[3];
        for (int d = 0; d < 3; d++) {
            normal[d] = normals[i + (face + FACES * d) * elements];
        }
        float area = sqrtf(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);

        if (neighbour >= 0) {
            Flow other = flow_of(variables, neighbour, elements);
            float viscosity = -area * SMOOTHING * 0.5f * (own.speed + other.speed + own.sound + other.sound);
            density += viscosity * (own.density - other.density);
            energy += viscosity * (own.energy - other.energy);
            for (int e = 0; e < 3; e++) {
                momentum[e] += viscosity * (own.momentum[e] - other.momentum[e]);
            }
            for (int d = 0; d < 3; d++) {
                float half = 0.5f * normal[d];
                density += half * (other.momentum[d] + own.momentum[d]);
                energy += half * (other.energy_flux[d] + own.energy_flux[d]);
                for (int e = 0; e < 3; e++) {
                    momentum[e] += half * (other.momentum_flux[e][d] + own.momentum_flux[e][d]);
                }
            }
        } else if (neighbour == WALL) {
            for (int e = 0; e < 3; e++) {
                momentum[e] += normal[e] * own.pressure;
            }
        } else if (neighbour == FAR_FIELD) {
            for (int d = 0; d < 3; d++) {
                float half = 0.5f * normal[d];
                density += half * (far_variables[1 + d] + own.momentum[d]);
                energy += half * (far_energy_flux[d] + own.energy_flux[d]);
                for (int e = 0; e < 3; e++) {
                    momentum[e] += half * (far_momentum_flux[3 * e + d] + own.momentum_flux[e][d]);
                }
            }
        }
    }

    fluxes[i] = density;
    for (int e = 0; e < 3; e++) {
        fluxes[i + (1 + e) * elements] = momentum[e];
    }
    fluxes[i + 4 * elements] = energy;
}

// A stage of the Runge-Kutta scheme: from the iteration's first variables, a larger step in each stage.
extern "C" __global__ void cfd_time_step(int stage, int elements, const float *old_variables, float *variables,
                                         const float *step_factors, const float *fluxes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float factor = step_factors[i] / float(STAGES + 1 - stage);
    for (int variable = 0; variable < 5; variable++) {
        int at = i + variable * elements;
        variables[at] = old_variables[at] + factor * fluxes[at];
    }
}
