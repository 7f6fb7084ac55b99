//! PolyBench 3DCONV: a fixed 3x3x3 stencil over a volume, a launch per plane and one thread per element of it.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "3dconv",
    suite: "PolyBench",
    papers: &["hi-end"],
    description: "B = A convolved with 3x3x3 weights, plane by plane: eleven coalesced reads per thread from three \
                  planes, two of which the launch before has read too, and one write.",
    kernels: &[kernel("conv3d", "convolution3D_kernel")],
    differences: &[
        "sizes are parameters of the kernel, not constants",
        "A is uniform random in [-1, 1)",
        "the border of B is set to zero",
    ],
    inputs: &[
        input(Size::Test, "5 x 50 x 70", || Box::new(Conv3d { ni: 5, nj: 50, nk: 70, planes: Part::All })),
        input(Size::Small, "96 x 96 x 96", || Box::new(Conv3d::cube(96, Part::All))),
        input(Size::Paper, "256 x 256 x 256", || Box::new(Conv3d::cube(256, Part::All))),
        suite_input(
            "256 x 256 x 256",
            "polybenchGpu, CUDA/3DCONV/3DConvolution.cuh: NI, NJ, NK",
            Piece::Launches("the first 64 of the 254 launches, a plane each"),
            || Box::new(Conv3d::cube(256, Part::First(64))),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// PolyBench's block.
const BLOCK: [u32; 3] = [32, 8, 1];

/// A weight, and where its element lies: the steps in i, j and k.
type Tap = (f32, [isize; 3]);

/// PolyBench's weights, in its order.
const TAPS: [Tap; 15] = [
    (2.0, [-1, -1, -1]),
    (4.0, [1, -1, -1]),
    (5.0, [-1, -1, -1]),
    (7.0, [1, -1, -1]),
    (-8.0, [-1, -1, -1]),
    (10.0, [1, -1, -1]),
    (-3.0, [0, -1, 0]),
    (6.0, [0, 0, 0]),
    (-9.0, [0, 1, 0]),
    (2.0, [-1, -1, 1]),
    (4.0, [1, -1, 1]),
    (5.0, [-1, 0, 1]),
    (7.0, [1, 0, 1]),
    (-8.0, [-1, 1, 1]),
    (10.0, [1, 1, 1]),
];

#[derive(Debug)]
struct Conv3d {
    ni: usize,
    nj: usize,
    nk: usize,
    /// The inner planes of B that are computed.
    planes: Part,
}

impl Conv3d {
    fn cube(n: usize, planes: Part) -> Self {
        Self { ni: n, nj: n, nk: n, planes }
    }
}

impl Body for Conv3d {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { ni, nj, nk, planes } = self;
        let planes = planes.of(ni - 2);
        let elements = ni * nj * nk;
        let a = Random::new(0x3dc).signed_vec(elements);
        let d_a = host.buffer("a", &a)?;
        let d_b = host.zeros::<f32>("b", elements)?;

        let grid = [ctas(nk, BLOCK[0]), ctas(nj, BLOCK[1]), 1];
        for i in 1..=planes {
            let args = args![int(ni), int(nj), int(nk), d_a, d_b, int(i)];
            host.launch("conv3d", grid, BLOCK, args)?;
        }

        let mut expected = self.expected(&a);
        expected.truncate((1 + planes) * nj * nk);
        host.near::<f32>("b", d_b, then_as_before(expected, &vec![0.0; elements]))?;
        Ok(())
    }
}
