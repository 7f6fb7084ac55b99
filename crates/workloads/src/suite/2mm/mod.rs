//! PolyBench 2MM: C = A B, then E = C D, one thread per element of a product, without tiling.

mod expected;

use super::prelude::*;
use crate::reference::accepted;

pub(super) const WORKLOAD: Workload = Workload {
    name: "2mm",
    suite: "PolyBench",
    papers: &["fuse"],
    description: "C = A B and E = C D, a thread per element: rows of the left matrix are broadcast, rows of the \
                  right one are coalesced, the product is written in every step, and the second kernel reads the \
                  first one's result.",
    kernels: &[kernel("mm2_c", "mm2_kernel1"), kernel("mm2_e", "mm2_kernel2")],
    differences: &[
        "loops are not unrolled, as FUSE's compiler left them (its Table II says so)",
        "sizes are parameters of the kernels, not constants",
        "A, B and D are uniform random in [-1, 1)",
        "C and E are zero before the launches; PolyBench adds to what its host happens to upload",
    ],
    inputs: &[
        input(Size::Test, "C 36 x 50, depth 38; E 36 x 70", || {
            Box::new(TwoProducts { ni: 36, nj: 50, nk: 38, nl: 70, rows: Part::All })
        }),
        input(Size::Small, "192 x 192 each", || Box::new(TwoProducts::square(192, Part::All))),
        input(Size::Paper, "512 x 512 each (PolyBench: 2048 x 2048)", || {
            Box::new(TwoProducts::square(512, Part::All))
        }),
        suite_input(
            "2048 x 2048 each",
            "polybenchGpu, CUDA/2MM/2mm.cuh: NI, NJ, NK, NL",
            Piece::Ctas("the first 64 of the 16,384 CTAs of either kernel: 8 rows of C and E"),
            || Box::new(TwoProducts::square(2048, Part::First(8))),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// PolyBench's block.
const BLOCK: [u32; 3] = [32, 8, 1];

/// A is ni x nk, B nk x nj, C ni x nj, D nj x nl, E ni x nl.
#[derive(Debug)]
struct TwoProducts {
    ni: usize,
    nj: usize,
    nk: usize,
    nl: usize,
    /// The rows of C and E that are computed.
    rows: Part,
}

impl TwoProducts {
    fn square(n: usize, rows: Part) -> Self {
        Self { ni: n, nj: n, nk: n, nl: n, rows }
    }
}

impl Body for TwoProducts {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { ni, nj, nk, nl, rows } = self;
        let rows = rows.of(ni);
        let mut random = Random::new(0x233);
        let (a, b, d) = (random.signed_vec(ni * nk), random.signed_vec(nk * nj), random.signed_vec(nj * nl));
        let d_a = host.buffer("a", &a)?;
        let d_b = host.buffer("b", &b)?;
        let d_c = host.zeros::<f32>("c", ni * nj)?;
        let d_d = host.buffer("d", &d)?;
        let d_e = host.zeros::<f32>("e", ni * nl)?;

        let grid = |columns| [ctas(columns, BLOCK[0]), ctas(rows, BLOCK[1]), 1];
        host.launch("mm2_c", grid(nj), BLOCK, args![int(ni), int(nj), int(nk), d_a, d_b, d_c])?;
        host.launch("mm2_e", grid(nl), BLOCK, args![int(ni), int(nj), int(nl), d_c, d_d, d_e])?;

        let expected_c = then_as_before(self.expected_c(&a[..rows * nk], &b), &vec![0.0; ni * nj]);
        let c = host.near::<f32>("c", d_c, expected_c.clone())?;
        let c = accepted(&c[..rows * nj], &expected_c[..rows * nj]);
        host.near::<f32>("e", d_e, then_as_before(self.expected_e(&c, &d), &vec![0.0; ni * nl]))?;
        Ok(())
    }
}
