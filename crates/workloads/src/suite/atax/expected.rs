//! tmp = A x and y = A^T tmp, in f64.

use super::Atax;
use crate::suite::prelude::*;

impl Atax {
    pub(super) fn expected_tmp(&self, a: &[f32], x: &[f32]) -> Vec<Near> {
        let product = |row: &[f32]| {
            let mut sum = RunningSum::default();
            row.iter().zip(x).for_each(|(&a, &x)| sum.add(f64::from(a) * f64::from(x), 1));
            sum.near()
        };
        a.chunks_exact(self.ny).map(product).collect()
    }

    /// y, from the tmp that the device had: its rounding errors, once accepted, are an input like any other.
    pub(super) fn expected_y(&self, a: &[f32], tmp: &[f32]) -> Vec<Near> {
        let mut sums = vec![RunningSum::default(); self.ny];
        for (row, &t) in a.chunks_exact(self.ny).zip(tmp) {
            for (sum, &a) in sums.iter_mut().zip(row) {
                sum.add(f64::from(a) * f64::from(t), 1);
            }
        }
        sums.iter().map(RunningSum::near).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_product_by_hand() {
        let atax = Atax { nx: 2, ny: 3 };
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let values = |near: Vec<Near>| near.iter().map(|near| near.value).collect::<Vec<_>>();
        assert_eq!(values(atax.expected_tmp(&a, &[1.0, 0.0, -1.0])), [-2.0, -2.0]);
        assert_eq!(values(atax.expected_y(&a, &[1.0, 10.0])), [41.0, 52.0, 63.0]);
    }
}
