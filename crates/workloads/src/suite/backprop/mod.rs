//! Rodinia's Back Propagation: one training step of a network with one hidden layer of 16 units.

mod expected;
mod network;

use self::network::Network;
use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "backprop",
    suite: "Rodinia",
    papers: &["hi-end", "morpheus", "stash", "tinycache"],
    description: "Forward pass and weight update between a wide input layer and 16 hidden units: rows of 17 weights \
                  stream through, a shared-memory tree adds 16 inputs up between barriers, and the update reads and \
                  writes two matrices in place.",
    kernels: &[
        kernel("backprop_layer_forward", "bpnn_layerforward_CUDA"),
        kernel("backprop_adjust_weights", "bpnn_adjust_weights_cuda"),
    ],
    differences: &[
        "weights are random in [-1/64, 1/64), not in [0, 1), so that the hidden units do not saturate",
        "the previous changes are random in [-1/256, 1/256), not zero, so that the momentum counts",
        "the tree's widths are integers, without log2 and pow",
        "unused parameters are left out",
        "the update has its own copy of the weights instead of uploading them again over the forward pass's products",
        "the host's exponential is made of additions and multiplications; the output layer's weights stay as they are",
    ],
    inputs: &[
        input(Size::Test, "384 input units", || Box::new(Backprop { inputs: 384 })),
        input(Size::Small, "32,768 input units", || Box::new(Backprop { inputs: 32_768 })),
        input(Size::Paper, "65,536 input units", || Box::new(Backprop { inputs: 65_536 })),
        suite_input("65,536 input units", "ESESC, conf/gpu.conf: backprop 65536", Piece::All, || {
            Box::new(Backprop { inputs: 65_536 })
        }),
        input(Size::Stash, "8,192 input units: 32 KB", || Box::new(Backprop { inputs: 8_192 })),
        input(Size::Morpheus, "24,576 input units", || Box::new(Backprop { inputs: 24_576 })),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The hidden units, and the kernels' SIDE.
const HIDDEN: usize = 16;
/// The kernels' constants.
const RATE: f64 = 0.3;
const MOMENTUM: f64 = 0.3;

#[derive(Debug)]
struct Backprop {
    /// A multiple of 16.
    inputs: usize,
}

impl Body for Backprop {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let network = Network::random(self.inputs);
        let (grid, block) = ([1, ctas(self.inputs, HIDDEN as u32), 1], [HIDDEN as u32, HIDDEN as u32, 1]);
        let hidden = HIDDEN as i32;

        let d_input = host.buffer("input", &network.input)?;
        let d_products = host.buffer("products", &network.weights)?;
        let d_sums = host.zeros::<f32>("partial_sums", self.inputs)?;
        let args = args![d_input, d_products, d_sums, hidden];
        host.launch("backprop_layer_forward", grid, block, args)?;
        let (products, sums) = expected::forward(&network);
        host.near::<f32>("products", d_products, products)?;
        let sums = host.near::<f32>("partial_sums", d_sums, sums)?;

        let delta = network.hidden_errors(&sums);
        let d_delta = host.buffer("delta", &delta)?;
        let d_weights = host.buffer("weights", &network.weights)?;
        let d_previous = host.buffer("previous", &network.previous)?;
        let args = args![d_delta, hidden, d_input, d_weights, d_previous];
        host.launch("backprop_adjust_weights", grid, block, args)?;
        let (weights, previous) = expected::adjust(&network, &delta);
        host.near::<f32>("weights", d_weights, weights)?;
        host.near::<f32>("previous", d_previous, previous)?;
        Ok(())
    }
}
