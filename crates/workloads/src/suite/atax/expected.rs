//! tmp = A x and y = A^T tmp, in f64.

use super::Atax;
use crate::reference::linear_algebra::{Matrix, product};
use crate::suite::prelude::*;

impl Atax {
    pub(super) fn expected_tmp(&self, a: &[f32], x: &[f32]) -> Vec<Near> {
        product(Matrix::new(a, self.ny), Matrix::column(x))
    }

    /// y, from the tmp that the device had.
    pub(super) fn expected_y(&self, a: &[f32], tmp: &[f32]) -> Vec<Near> {
        product(Matrix::row(tmp), Matrix::new(a, self.ny))
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
