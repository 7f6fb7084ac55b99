// Training of a layer as in kernel.cu, over tiles: SIDE rows of SIDE weights, their bias column left out.

#define SIDE 16

using Block = Cta<SIDE, SIDE>;

extern "C" __global__ void backprop_layer_forward(const float *input, float *weights, float *partial_sums,
                                                  int hidden) {
    __shared__ CHUNK float node_storage[SIDE];
    __shared__ CHUNK float product_storage[SIDE * SIDE];
    __shared__ CHUNK float sum_storage[SIDE];
    int first = blockIdx.y * SIDE + 1;
    LOCAL<float, READS, 1, SIDE> node(node_storage, 0, input + first, 1, SIDE, SIDE);
    LOCAL<float, UPDATES, SIDE, SIDE> product(product_storage, 1, weights + first * (hidden + 1) + 1, SIDE, SIDE, hidden + 1);
    REST<float, WRITES, 1, SIDE> sums(sum_storage, 2, partial_sums + blockIdx.y * hidden, 1, SIDE, SIDE);
    int column = threadIdx.x;
    int row = threadIdx.y;
    Block::begin(node, product, sums);

    product(row, column) *= node(0, row);
    __syncthreads();
    for (int width = 2; width <= SIDE; width *= 2) {
        if (row % width == 0) {
            product(row, column) += product(row + width / 2, column);
        }
        __syncthreads();
    }
    if (column == 0) {
        sums(0, row) = product(0, row);
    }

    Block::end(product, sums);
}

#define RATE 0.3
#define MOMENTUM 0.3

// The bias' weights belong to no tile: one CTA updates them, in global memory.
extern "C" __global__ void backprop_adjust_weights(const float *delta, int hidden, const float *input,
                                                   float *weights, float *previous) {
    __shared__ CHUNK float delta_storage[SIDE];
    __shared__ CHUNK float input_storage[SIDE];
    __shared__ CHUNK float weight_storage[SIDE * SIDE];
    __shared__ CHUNK float change_storage[SIDE * SIDE];
    int first = blockIdx.y * SIDE + 1;
    int corner = first * (hidden + 1) + 1;
    REST<float, READS, 1, SIDE> error(delta_storage, 0, delta + 1, 1, SIDE, SIDE);
    REST<float, READS, 1, SIDE> node(input_storage, 1, input + first, 1, SIDE, SIDE);
    REST<float, UPDATES, SIDE, SIDE> weight(weight_storage, 2, weights + corner, SIDE, SIDE, hidden + 1);
    REST<float, UPDATES, SIDE, SIDE> change(change_storage, 3, previous + corner, SIDE, SIDE, hidden + 1);
    int column = threadIdx.x;
    int row = threadIdx.y;
    Block::begin(error, node, weight, change);

    weight(row, column) += RATE * error(0, column) * node(0, row) + MOMENTUM * change(row, column);
    change(row, column) = RATE * error(0, column) * node(0, row) + MOMENTUM * change(row, column);
    if (row == 0 && blockIdx.y == 0) {
        weights[column + 1] += RATE * error(0, column) + MOMENTUM * previous[column + 1];
        previous[column + 1] = RATE * error(0, column) + MOMENTUM * previous[column + 1];
    }

    Block::end(weight, change);
}
