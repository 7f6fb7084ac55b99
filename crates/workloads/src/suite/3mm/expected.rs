//! E = A B, F = C D and G = E F, in f64.

use super::ThreeProducts;
use crate::reference::linear_algebra::{Matrix, product};
use crate::suite::prelude::*;

impl ThreeProducts {
    pub(super) fn expected_e(&self, a: &[f32], b: &[f32]) -> Vec<Near> {
        product(Matrix::new(a, self.nk), Matrix::new(b, self.nj))
    }

    pub(super) fn expected_f(&self, c: &[f32], d: &[f32]) -> Vec<Near> {
        product(Matrix::new(c, self.nm), Matrix::new(d, self.nl))
    }

    /// G, from the E and F that the device had.
    pub(super) fn expected_g(&self, e: &[f32], f: &[f32]) -> Vec<Near> {
        product(Matrix::new(e, self.nj), Matrix::new(f, self.nl))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_chain_by_hand() {
        let three = ThreeProducts { ni: 1, nj: 2, nk: 1, nl: 1, nm: 3, rows: Part::All };
        let values = |near: Vec<Near>| near.iter().map(|near| near.value).collect::<Vec<_>>();
        assert_eq!(values(three.expected_e(&[2.0], &[3.0, 5.0])), [6.0, 10.0]);
        let c = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(values(three.expected_f(&c, &[1.0, 1.0, 2.0])), [9.0, 21.0]);
        assert_eq!(values(three.expected_g(&[6.0, 10.0], &[9.0, 21.0])), [264.0]);
    }
}
