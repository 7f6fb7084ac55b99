//! tmp = A x and y = alpha tmp + beta B x, in f64.

use super::{ALPHA, BETA, Gesummv};
use crate::reference::linear_algebra::{Matrix, product};
use crate::suite::prelude::*;

impl Gesummv {
    pub(super) fn expected_tmp(&self, a: &[f32], x: &[f32]) -> Vec<Near> {
        product(Matrix::new(a, self.ny), Matrix::column(x))
    }

    pub(super) fn expected_y(&self, tmp: &[Near], b: &[f32], x: &[f32]) -> Vec<Near> {
        let bounded = |near: &Near| Bounded::new(near.value, near.bound);
        let bx = product(Matrix::new(b, self.ny), Matrix::column(x));
        let y = tmp.iter().zip(&bx).map(|(tmp, bx)| {
            let (tmp, bx) = (bounded(tmp), bounded(bx));
            Bounded::from(ALPHA) * tmp + Bounded::from(BETA) * bx
        });
        y.map(Bounded::near).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_sum_by_hand() {
        let gesummv = Gesummv { nx: 2, ny: 2 };
        let x = [1.0, 10.0];
        let values = |near: &[Near]| near.iter().map(|near| near.value).collect::<Vec<_>>();
        let tmp = gesummv.expected_tmp(&[1.0, 2.0, 3.0, 4.0], &x);
        assert_eq!(values(&tmp), [21.0, 43.0]);
        let y = gesummv.expected_y(&tmp, &[4.0, 0.0, 0.0, 4.0], &x);
        assert_eq!(values(&y), [1.5 * 21.0 + 3.0, 1.5 * 43.0 + 30.0]);
    }
}
