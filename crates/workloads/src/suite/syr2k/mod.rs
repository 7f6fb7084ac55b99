//! PolyBench SYR2K: C = alpha (A B^T + B A^T) + beta C, one thread per element of C, without tiling.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "syr2k",
    suite: "PolyBench",
    papers: &["fuse"],
    description: "C = alpha (A B^T + B A^T) + beta C, a thread per element of C: a warp reads A and B down their \
                  rows, one line per lane, uses these lines again in the next steps, and writes C in every step.",
    kernels: &[kernel("syr2k", "syr2k_kernel")],
    differences: &[
        "loops are not unrolled, as FUSE's compiler left them (its Table II says so)",
        "sizes are parameters of the kernel, not constants",
        "A, B and C are uniform random in [-1, 1), alpha = 1.5, beta = 0.75",
    ],
    inputs: &[
        input(Size::Test, "C 70 x 70, depth 19", || Box::new(Syr2k { n: 70, m: 19, rows: Part::All })),
        input(Size::Small, "C 192 x 192, depth 192", || Box::new(Syr2k::square(192, Part::All))),
        input(Size::Paper, "C 512 x 512, depth 512 (PolyBench: 2048 each)", || {
            Box::new(Syr2k::square(512, Part::All))
        }),
        suite_input(
            "C 2048 x 2048, depth 2048",
            "polybenchGpu, CUDA/SYR2K/syr2k.cuh: N, M",
            Piece::Ctas("the first 64 of the 16,384 CTAs: 8 rows of C"),
            || Box::new(Syr2k::square(2048, Part::First(8))),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const ALPHA: f32 = 1.5;
const BETA: f32 = 0.75;
/// PolyBench's block.
const BLOCK: [u32; 3] = [32, 8, 1];

/// C is n x n, A and B are n x m.
#[derive(Debug)]
struct Syr2k {
    n: usize,
    m: usize,
    /// The rows of C that are computed.
    rows: Part,
}

impl Syr2k {
    fn square(n: usize, rows: Part) -> Self {
        Self { n, m: n, rows }
    }
}

impl Body for Syr2k {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { n, m, rows } = self;
        let rows = rows.of(n);
        let mut random = Random::new(0x5272);
        let (a, b, c) = (random.signed_vec(n * m), random.signed_vec(n * m), random.signed_vec(n * n));
        let d_a = host.buffer("a", &a)?;
        let d_b = host.buffer("b", &b)?;
        let d_c = host.buffer("c", &c)?;

        let grid = [ctas(n, BLOCK[0]), ctas(rows, BLOCK[1]), 1];
        host.launch("syr2k", grid, BLOCK, args![int(n), int(m), ALPHA, BETA, d_a, d_b, d_c])?;

        let expected = self.expected(&a, &b, &c[..rows * n]);
        host.near::<f32>("c", d_c, then_as_before(expected, &c))?;
        Ok(())
    }
}
