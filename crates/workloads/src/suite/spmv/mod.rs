//! Sparse matrix times vector, CSR: a thread per row, then a warp per row.

mod expected;
mod matrix;

use self::expected::expected;
use self::matrix::Matrix;
use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "spmv",
    suite: "SHOC",
    papers: &[],
    description: "y = A x, A in CSR form with rows of very different length: divergent loops and reads with a \
                  thread per row, coalesced reads and shuffles with a warp per row, gathers from x in both.",
    kernels: &[
        kernel("spmv_scalar", "spmv_csr_scalar_kernel"),
        kernel("spmv_vector", "spmv_csr_vector_kernel"),
    ],
    differences: &[
        "x is read from global memory, not through a texture",
        "Morpheus runs Parboil's SPMV, whose matrix is stored by jagged diagonals",
    ],
    inputs: &[
        input(Size::Test, "650 rows", || Box::new(Spmv { rows: 650 })),
        input(Size::Small, "40,000 rows", || Box::new(Spmv { rows: 40_000 })),
        input(Size::Paper, "800,000 rows", || Box::new(Spmv { rows: 800_000 })),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const BLOCK: u32 = 128;

#[derive(Debug)]
struct Spmv {
    rows: usize,
}

impl Body for Spmv {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let matrix = Matrix::random(self.rows, 0x59);
        let x = Random::new(0x58).signed_vec(self.rows);
        let row_start = host.buffer("row_start", &matrix.row_start)?;
        let columns = host.buffer("columns", &matrix.columns)?;
        let values = host.buffer("values", &matrix.values)?;
        let d_x = host.buffer("x", &x)?;

        let expected = expected(&matrix, &x);
        for (kernel, name, threads) in
            [("spmv_scalar", "y_scalar", self.rows), ("spmv_vector", "y_vector", 32 * self.rows)]
        {
            let y = host.zeros::<f32>(name, self.rows)?;
            let pointers = [row_start, columns, values, d_x, y].map(Arg::Ptr);
            let args = [&[Arg::I32(int(self.rows))], &pointers[..]].concat();
            host.launch(kernel, [ctas(threads, BLOCK), 1, 1], [BLOCK, 1, 1], &args)?;
            host.near::<f32>(name, y, expected.clone())?;
        }
        Ok(())
    }
}
