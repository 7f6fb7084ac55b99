//! The convolution, in f64, weight by weight.

use super::{Conv3d, TAPS};
use crate::suite::prelude::*;

impl Conv3d {
    pub(super) fn expected(&self, a: &[f32]) -> Vec<Near> {
        let &Self { ni, nj, nk, .. } = self;
        let bound = gamma(TAPS.len() + 1);
        let mut expected = vec![Near { value: 0.0, bound: 0.0 }; ni * nj * nk];
        for i in 1..ni - 1 {
            for j in 1..nj - 1 {
                let start = (i * nj + j) * nk + 1;
                let row = &mut expected[start..start + nk - 2];
                for &(weight, [di, dj, dk]) in &TAPS {
                    let step = (di * nj as isize + dj) * nk as isize + dk;
                    let first = start.checked_add_signed(step).expect("the row is not on the border");
                    for (near, &a) in row.iter_mut().zip(&a[first..]) {
                        let product = f64::from(weight) * f64::from(a);
                        near.value += product;
                        near.bound += bound * product.abs();
                    }
                }
            }
        }
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_impulse_gives_the_weights_mirrored() {
        let conv3d = Conv3d::cube(5, Part::All);
        let at = |i: usize, j: usize, k: usize| (i * 5 + j) * 5 + k;
        let mut a = [0.0; 125];
        a[at(2, 2, 2)] = 1.0;
        let found = conv3d.expected(&a);
        assert_eq!(found[at(3, 3, 3)].value, 2.0 + 5.0 - 8.0, "the corner before has three weights");
        assert_eq!(found[at(1, 3, 3)].value, 4.0 + 7.0 + 10.0, "the corner after too");
        assert_eq!(found[at(2, 2, 2)].value, 6.0);
        assert_eq!(found[at(2, 1, 2)].value, -9.0, "below sees it above");
        assert_eq!(found[at(3, 2, 1)].value, 5.0);
        assert_eq!(found[at(2, 2, 1)].value, 0.0, "the neighbour along the row is not read");
        assert_eq!(found[at(0, 0, 0)], Near { value: 0.0, bound: 0.0 });
    }
}
