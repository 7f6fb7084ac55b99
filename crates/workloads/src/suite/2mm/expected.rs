//! C = A B and E = C D, in f64.

use super::TwoProducts;
use crate::reference::linear_algebra::{Matrix, product};
use crate::suite::prelude::*;

impl TwoProducts {
    /// The rows of C that A is given of.
    pub(super) fn expected_c(&self, a: &[f32], b: &[f32]) -> Vec<Near> {
        product(Matrix::new(a, self.nk), Matrix::new(b, self.nj))
    }

    /// E, from the C that the device had.
    pub(super) fn expected_e(&self, c: &[f32], d: &[f32]) -> Vec<Near> {
        product(Matrix::new(c, self.nj), Matrix::new(d, self.nl))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_chain_by_hand() {
        let two = TwoProducts { ni: 1, nj: 2, nk: 3, nl: 1, rows: Part::All };
        let values = |near: Vec<Near>| near.iter().map(|near| near.value).collect::<Vec<_>>();
        assert_eq!(values(two.expected_c(&[1.0, 2.0, 3.0], &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0])), [4.0, 5.0]);
        assert_eq!(values(two.expected_e(&[4.0, 5.0], &[10.0, 100.0])), [540.0]);
    }
}
