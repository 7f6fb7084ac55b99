//! PolyBench 3MM: E = A B, F = C D, then G = E F, one thread per element of a product, without tiling.

mod expected;

use super::prelude::*;
use crate::reference::accepted;

pub(super) const WORKLOAD: Workload = Workload {
    name: "3mm",
    suite: "PolyBench",
    papers: &["fuse"],
    description: "E = A B, F = C D and G = E F, a thread per element: rows of the left matrix are broadcast, rows \
                  of the right one are coalesced, the product is written in every step, and the third kernel reads \
                  the results of the other two.",
    kernels: &[
        kernel("mm3_e", "mm3_kernel1"),
        kernel("mm3_f", "mm3_kernel2"),
        kernel("mm3_g", "mm3_kernel3"),
    ],
    differences: &[
        "loops are not unrolled, as FUSE's compiler left them (its Table II says so)",
        "sizes are parameters of the kernels, not constants",
        "A, B, C and D are uniform random in [-1, 1)",
    ],
    inputs: &[
        input(Size::Test, "E 30 x 44, depth 30; F 44 x 50, depth 40", || {
            Box::new(ThreeProducts { ni: 30, nj: 44, nk: 30, nl: 50, nm: 40, rows: Part::All })
        }),
        input(Size::Small, "160 x 160 each", || Box::new(ThreeProducts::square(160, Part::All))),
        input(Size::Paper, "512 x 512 each", || Box::new(ThreeProducts::square(512, Part::All))),
        suite_input(
            "512 x 512 each",
            "polybenchGpu, CUDA/3MM/3mm.cuh: NI, NJ, NK, NL, NM",
            Piece::Ctas("the first 128 of the 1,024 CTAs of each kernel: 64 rows of E, F and G"),
            || Box::new(ThreeProducts::square(512, Part::First(64))),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// PolyBench's block.
const BLOCK: [u32; 3] = [32, 8, 1];

/// A is ni x nk, B nk x nj, C nj x nm, D nm x nl; so E is ni x nj, F nj x nl, G ni x nl.
#[derive(Debug)]
struct ThreeProducts {
    ni: usize,
    nj: usize,
    nk: usize,
    nl: usize,
    nm: usize,
    /// The rows of E, F and G that are computed; F's others are zero.
    rows: Part,
}

impl ThreeProducts {
    fn square(n: usize, rows: Part) -> Self {
        Self { ni: n, nj: n, nk: n, nl: n, nm: n, rows }
    }
}

impl Body for ThreeProducts {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { ni, nj, nk, nl, nm, rows } = self;
        let mut random = Random::new(0x333);
        let (a, b) = (random.signed_vec(ni * nk), random.signed_vec(nk * nj));
        let (c, d) = (random.signed_vec(nj * nm), random.signed_vec(nm * nl));
        let d_a = host.buffer("a", &a)?;
        let d_b = host.buffer("b", &b)?;
        let d_c = host.buffer("c", &c)?;
        let d_d = host.buffer("d", &d)?;
        let d_e = host.zeros::<f32>("e", ni * nj)?;
        let d_f = host.zeros::<f32>("f", nj * nl)?;
        let d_g = host.zeros::<f32>("g", ni * nl)?;

        let grid = |rows, columns| [ctas(columns, BLOCK[0]), ctas(self.rows.of(rows), BLOCK[1]), 1];
        host.launch("mm3_e", grid(ni, nj), BLOCK, args![int(ni), int(nj), int(nk), d_a, d_b, d_e])?;
        host.launch("mm3_f", grid(nj, nl), BLOCK, args![int(nj), int(nl), int(nm), d_c, d_d, d_f])?;
        host.launch("mm3_g", grid(ni, nl), BLOCK, args![int(ni), int(nl), int(nj), d_e, d_f, d_g])?;

        let (rows_e, rows_f) = (rows.of(ni), rows.of(nj));
        let expected_e = then_as_before(self.expected_e(&a[..rows_e * nk], &b), &vec![0.0; ni * nj]);
        let expected_f = then_as_before(self.expected_f(&c[..rows_f * nm], &d), &vec![0.0; nj * nl]);
        let e = host.near::<f32>("e", d_e, expected_e.clone())?;
        let f = host.near::<f32>("f", d_f, expected_f.clone())?;
        let e = accepted(&e[..rows_e * nj], &expected_e[..rows_e * nj]);
        let g = self.expected_g(&e, &accepted(&f, &expected_f));
        host.near::<f32>("g", d_g, then_as_before(g, &vec![0.0; ni * nl]))?;
        Ok(())
    }
}
