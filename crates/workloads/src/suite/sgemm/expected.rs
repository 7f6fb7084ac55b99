//! C, in f64, column by column.

use super::{ALPHA, BETA, Sgemm};
use crate::suite::prelude::*;

impl Sgemm {
    /// The columns that C is given of. Every matrix is given column by column; `b_transposed` is B's transpose.
    pub(super) fn expected(&self, a: &[f32], b_transposed: &[f32], c: &[f32]) -> Vec<Near> {
        let &Self { m, n, .. } = self;
        let mut expected = Vec::with_capacity(m * n);
        for (column, column_c) in c.chunks_exact(m).enumerate() {
            // A column of C is a combination of A's columns.
            let mut sums = vec![RunningSum::default(); m];
            for (column_a, row_b) in a.chunks_exact(m).zip(b_transposed.chunks_exact(n)) {
                let b = f64::from(row_b[column]);
                for (sum, &a) in sums.iter_mut().zip(column_a) {
                    sum.add(f64::from(a) * b, 1);
                }
            }
            expected.extend(sums.iter().zip(column_c).map(|(sum, &c)| {
                let Near { value, bound } = sum.near();
                let old = Bounded::from(BETA) * Bounded::from(c);
                (old + Bounded::from(ALPHA) * Bounded::new(value, bound)).near()
            }));
        }
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_product_by_hand() {
        let sgemm = Sgemm::whole(2, 2, 2);
        // A = (1 3; 2 4), B = (10 20; 100 1000), whose transpose is stored by columns: B by rows.
        let found = sgemm.expected(&[1.0, 2.0, 3.0, 4.0], &[10.0, 20.0, 100.0, 1000.0], &[9.0; 4]);
        let values: Vec<f64> = found.iter().map(|near| near.value).collect();
        assert_eq!(values, [310.0, 420.0, 3020.0, 4040.0]);
    }
}
