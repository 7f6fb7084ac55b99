//! PolyBench MVT: x1 += A y1 with a thread per row of A, then x2 += A^T y2 with a thread per column.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "mvt",
    suite: "PolyBench",
    papers: &["fuse"],
    description: "x1 += A y1 and x2 += A^T y2: the first kernel's warps read A down a column, one line per lane, \
                  the second kernel's along a row; both write their sum in every step.",
    kernels: &[kernel("mvt_rows", "mvt_kernel1"), kernel("mvt_columns", "mvt_kernel2")],
    differences: &[
        "loops are not unrolled, as FUSE's compiler left them (its Table II says so)",
        "sizes are parameters of the kernels, not constants, and A need not be square",
        "A and the vectors are uniform random in [-1, 1)",
    ],
    inputs: &[
        input(Size::Test, "A 600 x 250", || Box::new(Mvt { nx: 600, ny: 250 })),
        input(Size::Small, "A 2048 x 2048", || Box::new(Mvt { nx: 2048, ny: 2048 })),
        input(Size::Paper, "A 8192 x 8192 (PolyBench: 4096 x 4096)", || Box::new(Mvt { nx: 8192, ny: 8192 })),
        suite_input("A 4096 x 4096", "polybenchGpu, CUDA/MVT/mvt.cuh: N", Piece::All, || {
            Box::new(Mvt { nx: 4096, ny: 4096 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// PolyBench's block.
const BLOCK: u32 = 256;

#[derive(Debug)]
struct Mvt {
    nx: usize,
    ny: usize,
}

impl Body for Mvt {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { nx, ny } = self;
        let mut random = Random::new(0x3172);
        let a = random.signed_vec(nx * ny);
        let [x1, x2, y1, y2] = [nx, ny, ny, nx].map(|n| random.signed_vec(n));
        let d_a = host.buffer("a", &a)?;
        let d_x1 = host.buffer("x1", &x1)?;
        let d_x2 = host.buffer("x2", &x2)?;
        let d_y1 = host.buffer("y1", &y1)?;
        let d_y2 = host.buffer("y2", &y2)?;

        let block = [BLOCK, 1, 1];
        host.launch("mvt_rows", [ctas(nx, BLOCK), 1, 1], block, args![int(nx), int(ny), d_a, d_x1, d_y1])?;
        host.launch("mvt_columns", [ctas(ny, BLOCK), 1, 1], block, args![int(nx), int(ny), d_a, d_x2, d_y2])?;

        host.near::<f32>("x1", d_x1, self.expected_x1(&a, &x1, &y1))?;
        host.near::<f32>("x2", d_x2, self.expected_x2(&a, &x2, &y2))?;
        Ok(())
    }
}
