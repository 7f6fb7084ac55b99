//! PolyBench GESUMMV: y = alpha A x + beta B x, one thread per row.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "gesummv",
    suite: "PolyBench",
    papers: &["fuse"],
    description: "y = alpha A x + beta B x, a thread per row: warps read two matrices down a column, one line per \
                  lane of each, and write two sums in every step.",
    kernels: &[kernel("gesummv", "gesummv_kernel")],
    differences: &[
        "loops are not unrolled, as FUSE's compiler left them (its Table II says so)",
        "sizes are parameters of the kernel, not constants, and the matrices need not be square",
        "A, B and x are uniform random in [-1, 1), alpha = 1.5, beta = 0.75",
        "B has its own values; PolyBench leaves it, tmp and y as allocated, and here tmp and y are zero",
    ],
    inputs: &[
        input(Size::Test, "A and B 600 x 250", || Box::new(Gesummv { nx: 600, ny: 250 })),
        input(Size::Small, "A and B 2048 x 2048", || Box::new(Gesummv { nx: 2048, ny: 2048 })),
        input(Size::Paper, "A and B 8192 x 8192 (PolyBench: 4096 x 4096)", || {
            Box::new(Gesummv { nx: 8192, ny: 8192 })
        }),
        suite_input("A and B 4096 x 4096", "polybenchGpu, CUDA/GESUMMV/gesummv.cuh: N", Piece::All, || {
            Box::new(Gesummv { nx: 4096, ny: 4096 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const ALPHA: f32 = 1.5;
const BETA: f32 = 0.75;
/// PolyBench's block.
const BLOCK: u32 = 256;

#[derive(Debug)]
struct Gesummv {
    nx: usize,
    ny: usize,
}

impl Body for Gesummv {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { nx, ny } = self;
        let mut random = Random::new(0x6e5);
        let (a, b, x) = (random.signed_vec(nx * ny), random.signed_vec(nx * ny), random.signed_vec(ny));
        let d_a = host.buffer("a", &a)?;
        let d_b = host.buffer("b", &b)?;
        let d_x = host.buffer("x", &x)?;
        let d_y = host.zeros::<f32>("y", nx)?;
        let d_tmp = host.zeros::<f32>("tmp", nx)?;

        let args = args![int(nx), int(ny), ALPHA, BETA, d_a, d_b, d_x, d_y, d_tmp];
        host.launch("gesummv", [ctas(nx, BLOCK), 1, 1], [BLOCK, 1, 1], args)?;

        let tmp = self.expected_tmp(&a, &x);
        host.near::<f32>("y", d_y, self.expected_y(&tmp, &b, &x))?;
        host.near::<f32>("tmp", d_tmp, tmp)?;
        Ok(())
    }
}
