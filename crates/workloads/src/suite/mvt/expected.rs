//! x1 + A y1 and x2 + A^T y2, in f64.

use super::Mvt;
use crate::reference::linear_algebra::{Matrix, Sums};
use crate::suite::prelude::*;

impl Mvt {
    pub(super) fn expected_x1(&self, a: &[f32], x1: &[f32], y1: &[f32]) -> Vec<Near> {
        Sums::scaled(1.0, x1).plus(1.0, Matrix::new(a, self.ny), Matrix::column(y1)).near()
    }

    pub(super) fn expected_x2(&self, a: &[f32], x2: &[f32], y2: &[f32]) -> Vec<Near> {
        Sums::scaled(1.0, x2).plus(1.0, Matrix::row(y2), Matrix::new(a, self.ny)).near()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_products_by_hand() {
        let mvt = Mvt { nx: 2, ny: 3 };
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let values = |near: Vec<Near>| near.iter().map(|near| near.value).collect::<Vec<_>>();
        assert_eq!(values(mvt.expected_x1(&a, &[0.5, 0.25], &[1.0, 10.0, 1.0])), [24.5, 60.25]);
        assert_eq!(values(mvt.expected_x2(&a, &[0.5, 0.25, 0.0], &[1.0, 10.0])), [41.5, 52.25, 63.0]);
    }
}
