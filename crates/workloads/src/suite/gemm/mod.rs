//! PolyBench GEMM: C = alpha A B + beta C, one thread per element of C, without tiling.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "gemm",
    suite: "PolyBench",
    papers: &["fuse", "hi-end"],
    description: "C = alpha A B + beta C, a thread per element of C: rows of A are broadcast, rows of B are \
                  coalesced, and C is written in every step of the inner loop.",
    kernels: &[kernel("gemm", "gemm_kernel")],
    differences: &[
        "loops are not unrolled, as FUSE's compiler left them (its Table II says so)",
        "sizes are parameters of the kernel, not constants",
        "Morpheus runs Parboil's SGEMM, which tiles",
        "A, B and C are uniform random in [-1, 1), alpha = 1.5, beta = 0.75",
    ],
    inputs: &[
        input(Size::Test, "C 60 x 72, depth 50", || {
            Box::new(Gemm { ni: 60, nj: 72, nk: 50, rows: Part::All })
        }),
        input(Size::Small, "C 256 x 256, depth 256", || Box::new(Gemm::square(256, Part::All))),
        input(Size::Paper, "C 512 x 512, depth 512 (PolyBench's)", || Box::new(Gemm::square(512, Part::All))),
        suite_input(
            "C 512 x 512, depth 512",
            "polybenchGpu, CUDA/GEMM/gemm.cuh: NI, NJ, NK",
            Piece::Ctas("the first 320 of the 1,024 CTAs: 160 rows of C"),
            || Box::new(Gemm::square(512, Part::First(160))),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const ALPHA: f32 = 1.5;
const BETA: f32 = 0.75;
/// PolyBench's block.
const BLOCK: [u32; 3] = [32, 8, 1];

#[derive(Debug)]
struct Gemm {
    ni: usize,
    nj: usize,
    nk: usize,
    /// The rows of C that are computed.
    rows: Part,
}

impl Gemm {
    fn square(n: usize, rows: Part) -> Self {
        Self { ni: n, nj: n, nk: n, rows }
    }
}

impl Body for Gemm {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { ni, nj, nk, rows } = self;
        let rows = rows.of(ni);
        let mut random = Random::new(0x6e);
        let (a, b, c) = (random.signed_vec(ni * nk), random.signed_vec(nk * nj), random.signed_vec(ni * nj));
        let d_a = host.buffer("a", &a)?;
        let d_b = host.buffer("b", &b)?;
        let d_c = host.buffer("c", &c)?;

        let grid = [ctas(nj, BLOCK[0]), ctas(rows, BLOCK[1]), 1];
        let args = args![int(ni), int(nj), int(nk), ALPHA, BETA, d_a, d_b, d_c,];
        host.launch("gemm", grid, BLOCK, args)?;

        let expected = self.expected(&a[..rows * nk], &b, &c[..rows * nj]);
        host.near::<f32>("c", d_c, then_as_before(expected, &c))?;
        Ok(())
    }
}
