//! PolyBench BICG: s = A^T r with a thread per column of A, then q = A p with a thread per row.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "bicg",
    suite: "PolyBench",
    papers: &["fuse"],
    description: "s = A^T r and q = A p: the first kernel's warps read A along a row, the second kernel's down a \
                  column, one line per lane; both write their sum in every step.",
    kernels: &[kernel("bicg_columns", "bicg_kernel1"), kernel("bicg_rows", "bicg_kernel2")],
    differences: &[
        "loops are not unrolled, as FUSE's compiler left them (its Table II says so)",
        "sizes are parameters of the kernels, not constants",
        "A, r and p are uniform random in [-1, 1)",
    ],
    inputs: &[
        input(Size::Test, "A 600 x 250", || Box::new(Bicg { nx: 600, ny: 250 })),
        input(Size::Small, "A 2048 x 2048", || Box::new(Bicg { nx: 2048, ny: 2048 })),
        input(Size::Paper, "A 8192 x 8192 (PolyBench: 4096 x 4096)", || {
            Box::new(Bicg { nx: 8192, ny: 8192 })
        }),
        suite_input("A 4096 x 4096", "polybenchGpu, CUDA/BICG/bicg.cuh: NX, NY", Piece::All, || {
            Box::new(Bicg { nx: 4096, ny: 4096 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// PolyBench's block.
const BLOCK: u32 = 256;

#[derive(Debug)]
struct Bicg {
    nx: usize,
    ny: usize,
}

impl Body for Bicg {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { nx, ny } = self;
        let mut random = Random::new(0xb1c6);
        let (a, r, p) = (random.signed_vec(nx * ny), random.signed_vec(nx), random.signed_vec(ny));
        let d_a = host.buffer("a", &a)?;
        let d_r = host.buffer("r", &r)?;
        let d_s = host.zeros::<f32>("s", ny)?;
        let d_p = host.buffer("p", &p)?;
        let d_q = host.zeros::<f32>("q", nx)?;

        let block = [BLOCK, 1, 1];
        host.launch("bicg_columns", [ctas(ny, BLOCK), 1, 1], block, args![int(nx), int(ny), d_a, d_r, d_s])?;
        host.launch("bicg_rows", [ctas(nx, BLOCK), 1, 1], block, args![int(nx), int(ny), d_a, d_p, d_q])?;

        host.near::<f32>("s", d_s, self.expected_s(&a, &r))?;
        host.near::<f32>("q", d_q, self.expected_q(&a, &p))?;
        Ok(())
    }
}
