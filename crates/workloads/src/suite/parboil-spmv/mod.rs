//! Parboil's SPMV: sparse matrix times vector, the matrix by jagged diagonals.

mod expected;
mod jds;

use self::expected::expected;
use self::jds::Matrix;
use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "parboil-spmv",
    suite: "Parboil",
    papers: &["morpheus", "tinycache"],
    description: "y = A x, A by jagged diagonals, a thread per row: coalesced reads of values and columns, gathers \
                  from x, a scattered write of y, and the diagonals' starts and the warps' lengths from constant \
                  memory.",
    kernels: &[kernel("spmv_jds", "spmv_jds")],
    differences: &[
        "the matrix has the pattern of Dubcova3 (bicubic elements on a square), row by row in the plane, with \
         random values",
        "x is random in [-1, 1)",
        "x is read from global memory; some versions of Parboil read it through a texture",
        "a CTA has 192 threads, what Parboil's occupancy rule gives for Fermi, on every device",
    ],
    inputs: &[
        input(Size::Test, "1,681 rows, 3 products", || Box::new(Spmv { elements: 14, products: 3 })),
        input(Size::Small, "36,481 rows, 6 products", || Box::new(Spmv { elements: 64, products: 6 })),
        input(Size::Paper, "146,689 rows with 3.6 million entries, 50 products", || {
            Box::new(Spmv { elements: 128, products: 50 })
        }),
        suite_input(
            "146,689 rows with 3.6 million entries",
            "Parboil 2.5, spmv, data set large: Dubcova3",
            Piece::Launches("the first 8 of 50 products: a launch each"),
            || Box::new(Spmv { elements: 128, products: 8 }),
        ),
        input(Size::Morpheus, "10,201 rows, 5 products", || Box::new(Spmv { elements: 34, products: 5 })),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const BLOCK: u32 = 192;

#[derive(Debug)]
struct Spmv {
    /// Finite elements to a side of the square.
    elements: usize,
    /// How often the product is computed, as Parboil repeats it to be timed.
    products: usize,
}

impl Body for Spmv {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let matrix = Matrix::bicubic(self.elements, 0x1d5);
        let rows = matrix.rows.len();
        let x = Random::new(0x1d6).signed_vec(rows);
        let jds = matrix.to_jds();
        host.variable("warp_length", &jds.warp_length)?;
        host.variable("diagonal", &jds.diagonal)?;
        let y = host.zeros::<f32>("y", rows)?;
        let values = host.buffer("values", &jds.values)?;
        let columns = host.buffer("columns", &jds.columns)?;
        let row_of = host.buffer("row_of", &jds.row_of)?;
        let d_x = host.buffer("x", &x)?;

        let (grid, block) = ([ctas(rows, BLOCK), 1, 1], [BLOCK, 1, 1]);
        for _ in 0..self.products {
            host.launch("spmv_jds", grid, block, args![y, values, columns, row_of, d_x, int(rows)])?;
        }
        host.near::<f32>("y", y, expected(&matrix, &x))?;
        Ok(())
    }
}
