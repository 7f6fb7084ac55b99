//! C = alpha A B + beta C, in f64.

use super::{ALPHA, BETA, Gemm};
use crate::reference::linear_algebra::{Matrix, Sums};
use crate::suite::prelude::*;

impl Gemm {
    /// The rows of C that A and C are given of.
    pub(super) fn expected(&self, a: &[f32], b: &[f32], c: &[f32]) -> Vec<Near> {
        Sums::scaled(BETA, c).plus(ALPHA, Matrix::new(a, self.nk), Matrix::new(b, self.nj)).near()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_product_by_hand() {
        let gemm = Gemm { ni: 2, nj: 1, nk: 2, rows: Part::All };
        let found = gemm.expected(&[1.0, 2.0, 3.0, 4.0], &[10.0, 100.0], &[4.0, 8.0]);
        let values: Vec<f64> = found.iter().map(|near| near.value).collect();
        assert_eq!(values, [3.0 + 1.5 * 210.0, 6.0 + 1.5 * 430.0]);
    }
}
