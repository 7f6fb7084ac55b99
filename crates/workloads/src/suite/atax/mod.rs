//! PolyBench ATAX: y = A^T (A x), first a thread per row of A, then a thread per column.

mod expected;

use super::prelude::*;
use crate::reference::accepted;

pub(super) const WORKLOAD: Workload = Workload {
    name: "atax",
    suite: "PolyBench",
    papers: &["fuse"],
    description: "y = A^T (A x): the first kernel's warps read A down a column, one line per lane, the second \
                  kernel's along a row; both write their sum in every step.",
    kernels: &[kernel("atax_rows", "atax_kernel1"), kernel("atax_columns", "atax_kernel2")],
    differences: &[
        "loops are not unrolled, as FUSE's compiler left them (its Table II says so)",
        "sizes are parameters of the kernels, not constants",
        "A and x are uniform random in [-1, 1)",
    ],
    inputs: &[
        input(Size::Test, "A 600 x 250", || Box::new(Atax { nx: 600, ny: 250 })),
        input(Size::Small, "A 2048 x 2048", || Box::new(Atax { nx: 2048, ny: 2048 })),
        input(Size::Paper, "A 8192 x 8192 (PolyBench: 4096 x 4096)", || {
            Box::new(Atax { nx: 8192, ny: 8192 })
        }),
        suite_input("A 4096 x 4096", "polybenchGpu, CUDA/ATAX/atax.cuh: NX, NY", Piece::All, || {
            Box::new(Atax { nx: 4096, ny: 4096 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// PolyBench's block.
const BLOCK: u32 = 256;

#[derive(Debug)]
struct Atax {
    nx: usize,
    ny: usize,
}

impl Body for Atax {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { nx, ny } = self;
        let mut random = Random::new(0xa7a);
        let (a, x) = (random.signed_vec(nx * ny), random.signed_vec(ny));
        let d_a = host.buffer("a", &a)?;
        let d_x = host.buffer("x", &x)?;
        let d_tmp = host.zeros::<f32>("tmp", nx)?;
        let d_y = host.zeros::<f32>("y", ny)?;

        let sizes = [Arg::I32(int(nx)), Arg::I32(int(ny)), Arg::Ptr(d_a)];
        let rows = [&sizes[..], &[Arg::Ptr(d_x), Arg::Ptr(d_tmp)]].concat();
        host.launch("atax_rows", [ctas(nx, BLOCK), 1, 1], [BLOCK, 1, 1], &rows)?;
        let columns = [&sizes[..], &[Arg::Ptr(d_y), Arg::Ptr(d_tmp)]].concat();
        host.launch("atax_columns", [ctas(ny, BLOCK), 1, 1], [BLOCK, 1, 1], &columns)?;

        let expected_tmp = self.expected_tmp(&a, &x);
        let tmp = host.near::<f32>("tmp", d_tmp, expected_tmp.clone())?;
        host.near::<f32>("y", d_y, self.expected_y(&a, &accepted(&tmp, &expected_tmp)))?;
        Ok(())
    }
}
