//! The convolution, in f64, weight by weight.

use super::{Conv2d, WEIGHTS};
use crate::suite::prelude::*;

impl Conv2d {
    pub(super) fn expected(&self, a: &[f32]) -> Vec<Near> {
        let bound = gamma(10);
        let mut expected = vec![Near { value: 0.0, bound: 0.0 }; self.ni * self.nj];
        for i in 1..self.ni - 1 {
            for j in 1..self.nj - 1 {
                let near = &mut expected[i * self.nj + j];
                for (di, weights) in WEIGHTS.iter().enumerate() {
                    let row = &a[(i + di - 1) * self.nj + j - 1..][..3];
                    for (&weight, &a) in weights.iter().zip(row) {
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
    fn one_impulse_gives_the_weights_reversed() {
        let conv2d = Conv2d { ni: 5, nj: 5, rows: Part::All };
        let mut a = [0.0; 25];
        a[12] = 1.0;
        let found = conv2d.expected(&a);
        assert_eq!(found[6].value, f64::from(WEIGHTS[2][2]), "above and left sees it below and right");
        assert_eq!(found[13].value, f64::from(WEIGHTS[1][0]), "the right neighbour sees it on the left");
        assert_eq!(found[0], Near { value: 0.0, bound: 0.0 });
    }
}
