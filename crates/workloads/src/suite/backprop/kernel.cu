// The two kernels that train the layer between many input units and 16 hidden ones.
//
// Unit 0 of a layer is its bias, so the weights are a matrix of (inputs + 1) rows and (hidden + 1) columns, of
// which row 0 belongs to the bias and column 0 is never used. A CTA of SIDE x SIDE threads takes SIDE rows.

#define SIDE 16

// Weights times inputs, added up over the SIDE inputs of a CTA by a tree in shared memory.
//
// What the tree leaves in its matrix goes back to where the weights were.
extern "C" __global__ void backprop_layer_forward(const float *input, float *weights, float *partial_sums,
                                                  int hidden) {
    __shared__ float node[SIDE];
    __shared__ float product[SIDE][SIDE];

    int column = threadIdx.x;
    int row = threadIdx.y;
    int unit = blockIdx.y * SIDE + row + 1;
    int at = unit * (hidden + 1) + column + 1;

    if (column == 0) {
        node[row] = input[unit];
    }
    __syncthreads();
    product[row][column] = weights[at];
    __syncthreads();
    product[row][column] *= node[row];
    __syncthreads();

    for (int width = 2; width <= SIDE; width *= 2) {
        if (row % width == 0) {
            product[row][column] += product[row + width / 2][column];
        }
        __syncthreads();
    }

    weights[at] = product[row][column];
    __syncthreads();
    if (column == 0) {
        partial_sums[blockIdx.y * hidden + row] = product[0][row];
    }
}

#define RATE 0.3
#define MOMENTUM 0.3

// A gradient step with momentum. RATE and MOMENTUM are doubles, and so is the arithmetic.
//
// The change is written out twice because `weights` may alias everything: its operands are read again.
extern "C" __global__ void backprop_adjust_weights(const float *delta, int hidden, const float *input,
                                                   float *weights, float *previous) {
    int column = threadIdx.x + 1;
    int unit = blockIdx.y * SIDE + threadIdx.y + 1;
    int at = unit * (hidden + 1) + column;

    weights[at] += RATE * delta[column] * input[unit] + MOMENTUM * previous[at];
    previous[at] = RATE * delta[column] * input[unit] + MOMENTUM * previous[at];
    __syncthreads();

    if (threadIdx.y == 0 && blockIdx.y == 0) {
        weights[column] += RATE * delta[column] + MOMENTUM * previous[column];
        previous[column] = RATE * delta[column] + MOMENTUM * previous[column];
    }
}
