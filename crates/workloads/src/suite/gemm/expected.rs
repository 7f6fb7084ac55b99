//! C, in f64, row of B by row of B.

use super::{ALPHA, BETA, Gemm};
use crate::suite::prelude::*;

impl Gemm {
    /// The kernel rounds beta c, alpha a, and, unless it fuses, alpha a times b.
    pub(super) fn expected(&self, a: &[f32], b: &[f32], c: &[f32]) -> Vec<Near> {
        let mut expected = Vec::with_capacity(self.ni * self.nj);
        for (row_a, row_c) in a.chunks_exact(self.nk).zip(c.chunks_exact(self.nj)) {
            // One row of C, filled row of B by row of B.
            let mut sums = vec![RunningSum::default(); self.nj];
            for (sum, &c) in sums.iter_mut().zip(row_c) {
                sum.add(f64::from(BETA) * f64::from(c), 0);
            }
            for (&a, row_b) in row_a.iter().zip(b.chunks_exact(self.nj)) {
                let a = f64::from(ALPHA) * f64::from(a);
                for (sum, &b) in sums.iter_mut().zip(row_b) {
                    sum.add(a * f64::from(b), 2);
                }
            }
            expected.extend(sums.iter().map(RunningSum::near));
        }
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_product_by_hand() {
        let gemm = Gemm { ni: 2, nj: 1, nk: 2 };
        let found = gemm.expected(&[1.0, 2.0, 3.0, 4.0], &[10.0, 100.0], &[4.0, 8.0]);
        let values: Vec<f64> = found.iter().map(|near| near.value).collect();
        assert_eq!(values, [3.0 + 1.5 * 210.0, 6.0 + 1.5 * 430.0]);
    }
}
