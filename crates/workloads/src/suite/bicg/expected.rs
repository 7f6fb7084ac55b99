//! s = A^T r and q = A p, in f64.

use super::Bicg;
use crate::reference::linear_algebra::{Matrix, product};
use crate::suite::prelude::*;

impl Bicg {
    pub(super) fn expected_s(&self, a: &[f32], r: &[f32]) -> Vec<Near> {
        product(Matrix::row(r), Matrix::new(a, self.ny))
    }

    pub(super) fn expected_q(&self, a: &[f32], p: &[f32]) -> Vec<Near> {
        product(Matrix::new(a, self.ny), Matrix::column(p))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_products_by_hand() {
        let bicg = Bicg { nx: 2, ny: 3 };
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let values = |near: Vec<Near>| near.iter().map(|near| near.value).collect::<Vec<_>>();
        assert_eq!(values(bicg.expected_s(&a, &[10.0, 1.0])), [14.0, 25.0, 36.0]);
        assert_eq!(values(bicg.expected_q(&a, &[1.0, 1.0, -1.0])), [0.0, 3.0]);
    }
}
