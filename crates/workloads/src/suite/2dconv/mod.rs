//! PolyBench 2DCONV: a fixed 3x3 stencil over a matrix, one thread per element.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "2dconv",
    suite: "PolyBench",
    papers: &["fuse", "hi-end"],
    description: "B = A convolved with 3x3 weights: nine coalesced reads per thread, most of them of lines that \
                  neighbouring threads read too, and one write.",
    kernels: &[kernel("conv2d", "Convolution2D_kernel")],
    differences: &[
        "sizes are parameters of the kernel, not constants",
        "A is uniform random in [-1, 1)",
        "the border of B is set to zero",
    ],
    inputs: &[
        input(Size::Test, "200 x 150", || Box::new(Conv2d { ni: 200, nj: 150, rows: Part::All })),
        input(Size::Small, "1024 x 1024", || Box::new(Conv2d::square(1024, Part::All))),
        input(Size::Paper, "4608 x 4608 (PolyBench: 4096 x 4096)", || {
            Box::new(Conv2d::square(4608, Part::All))
        }),
        suite_input(
            "4096 x 4096",
            "polybenchGpu, CUDA/2DCONV/2DConvolution.cuh: NI, NJ",
            Piece::Ctas("the first 24,576 of the 65,536 CTAs: 1,536 rows of B"),
            || Box::new(Conv2d::square(4096, Part::First(1536))),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// PolyBench's block.
const BLOCK: [u32; 3] = [32, 8, 1];

/// PolyBench's weights, row above first.
const WEIGHTS: [[f32; 3]; 3] = [[0.2, -0.3, 0.4], [0.5, 0.6, 0.7], [-0.8, -0.9, 0.1]];

#[derive(Debug)]
struct Conv2d {
    ni: usize,
    nj: usize,
    /// The rows of B that are computed.
    rows: Part,
}

impl Conv2d {
    fn square(n: usize, rows: Part) -> Self {
        Self { ni: n, nj: n, rows }
    }
}

impl Body for Conv2d {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { ni, nj, rows } = self;
        let rows = rows.of(ni);
        let a = Random::new(0x2dc).signed_vec(ni * nj);
        let d_a = host.buffer("a", &a)?;
        let d_b = host.zeros::<f32>("b", ni * nj)?;

        let grid = [ctas(nj, BLOCK[0]), ctas(rows, BLOCK[1]), 1];
        let args = args![int(ni), int(nj), d_a, d_b];
        host.launch("conv2d", grid, BLOCK, args)?;

        let mut expected = self.expected(&a);
        expected.truncate(rows * nj);
        host.near::<f32>("b", d_b, then_as_before(expected, &vec![0.0; ni * nj]))?;
        Ok(())
    }
}
