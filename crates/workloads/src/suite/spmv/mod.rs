//! Sparse matrix times vector, CSR: a thread per row, then a warp per row.

mod matrix;

use self::matrix::Matrix;
use super::{Body, Size, Workload, ctas, int};
use crate::check::{Near, gamma};
use crate::element::{alloc_with, alloc_zeroed};
use crate::random::Random;
use crate::{Arg, Comparison, Device, DeviceError, Outcome};

pub(super) const WORKLOAD: Workload = Workload {
    name: "spmv",
    suite: "SHOC",
    papers: &["morpheus", "tinycache"],
    description: "y = A x, A in CSR form with rows of very different length: divergent loops and reads with a \
                  thread per row, coalesced reads and shuffles with a warp per row, gathers from x in both.",
    kernels: &["spmv_scalar", "spmv_vector"],
    differences: &[
        "x is read from global memory, not through a texture",
        "Morpheus runs Parboil's SPMV, whose matrix is stored by jagged diagonals",
    ],
    inputs: ["650 rows", "40,000 rows", "800,000 rows"],
    ptx: include_str!("kernel.ptx"),
    build: |size| {
        Box::new(match size {
            Size::Test => Spmv { rows: 650 },
            Size::Small => Spmv { rows: 40_000 },
            Size::Paper => Spmv { rows: 800_000 },
        })
    },
};

const BLOCK: u32 = 128;

#[derive(Debug)]
struct Spmv {
    rows: usize,
}

fn expected(matrix: &Matrix, x: &[f32]) -> Vec<Near> {
    (0..matrix.rows())
        .map(|row| {
            let products = || matrix.row(row).map(|(column, value)| f64::from(value) * f64::from(x[column]));
            // As many products as the row has; a warp adds zeros and five more sums to that.
            let bound = gamma(products().count() + 6);
            Near { value: products().sum(), bound: bound * products().map(f64::abs).sum::<f64>() }
        })
        .collect()
}

impl Body for Spmv {
    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let matrix = Matrix::random(self.rows, 0x59);
        let x = Random::new(0x58).signed_vec(self.rows);
        let row_start = alloc_with(device, "row_start", &matrix.row_start)?;
        let columns = alloc_with(device, "columns", &matrix.columns)?;
        let values = alloc_with(device, "values", &matrix.values)?;
        let d_x = alloc_with(device, "x", &x)?;

        let expected = expected(&matrix, &x);
        let mut outcome = Outcome::default();
        for (kernel, name, threads) in
            [("spmv_scalar", "y_scalar", self.rows), ("spmv_vector", "y_vector", 32 * self.rows)]
        {
            let y = alloc_zeroed(device, name, 4 * self.rows as u64)?;
            let pointers = [row_start, columns, values, d_x, y].map(Arg::Ptr);
            let args = [&[Arg::I32(int(self.rows))], &pointers[..]].concat();
            device.launch(kernel, [ctas(threads, BLOCK), 1, 1], [BLOCK, 1, 1], 0, &args)?;
            let found = outcome.download::<f32>(device, name, y, self.rows)?;
            outcome.comparisons.push(Comparison::near(name, &found, &expected));
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_product_by_hand() {
        let matrix = Matrix { row_start: vec![0, 2, 2], columns: vec![0, 1], values: vec![2.0, 3.0] };
        let values: Vec<f64> = expected(&matrix, &[10.0, 100.0]).iter().map(|near| near.value).collect();
        assert_eq!(values, [320.0, 0.0]);
    }
}
