//! Modified Gram-Schmidt, column by column, with the bound on every element's rounding errors carried along.

use super::GramSchmidt;
use crate::suite::prelude::*;

/// Q, m rows of n, and R, n rows of n.
pub(super) struct Factors<T> {
    pub(super) q: Vec<T>,
    pub(super) r: Vec<T>,
}

impl GramSchmidt {
    /// What is left of A, and the factors.
    ///
    /// An element of the device's factors that is near enough takes the place of the computed one from there on, as
    /// an input without error: errors then add up from step to step, and are not multiplied.
    pub(super) fn expected(&self, a: &[f32], device: &Factors<f32>) -> (Vec<Near>, Factors<Near>) {
        let &Self { m, n, steps } = self;
        let zero = Bounded::ZERO.near();
        let mut factors = Factors { q: vec![zero; m * n], r: vec![zero; n * n] };
        let mut a: Vec<Bounded> = a.iter().map(|&a| Bounded::from(a)).collect();
        for k in 0..steps {
            let norm = a.chunks_exact(n).map(|row| row[k] * row[k]).sum::<Bounded>().sqrt();
            factors.r[k * n + k] = norm.near();
            let norm = accepted(norm, device.r[k * n + k]);

            let mut column = Vec::with_capacity(m);
            let mut sums = vec![Bounded::ZERO; n - k - 1];
            for (i, row) in a.chunks_exact(n).enumerate() {
                let q = row[k] / norm;
                factors.q[i * n + k] = q.near();
                let q = accepted(q, device.q[i * n + k]);
                column.push(q);
                for (sum, &a) in sums.iter_mut().zip(&row[k + 1..]) {
                    *sum += q * a;
                }
            }

            let right = k * n + k + 1..(k + 1) * n;
            for (sum, at) in sums.iter_mut().zip(right) {
                factors.r[at] = sum.near();
                *sum = accepted(*sum, device.r[at]);
            }
            for (row, &q) in a.chunks_exact_mut(n).zip(&column) {
                for (a, &r) in row[k + 1..].iter_mut().zip(&sums) {
                    *a = *a - q * r;
                }
            }
        }
        (a.into_iter().map(Bounded::near).collect(), factors)
    }
}

/// The device's value if it lies within the bound, else the computed one.
fn accepted(computed: Bounded, device: f32) -> Bounded {
    let near = (f64::from(device) - computed.value()).abs() <= computed.error();
    if near { Bounded::from(device) } else { computed }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns (3, 4) and (1, 2): Q's are (3, 4) / 5 and (-4, 3) / 5.
    #[test]
    fn a_small_factorisation_by_hand() {
        let whole = GramSchmidt { m: 2, n: 2, steps: 2 };
        let nothing = Factors { q: vec![0.0; 4], r: vec![0.0; 4] };
        let (a, Factors { q, r }) = whole.expected(&[3.0, 1.0, 4.0, 2.0], &nothing);
        for (found, value) in [(q[0], 0.6), (q[2], 0.8), (q[1], -0.8), (q[3], 0.6)] {
            assert!((found.value - value).abs() < 1e-12, "{found:?}, not {value}");
        }
        for (found, value) in [(r[0], 5.0), (r[1], 2.2), (r[2], 0.0), (r[3], 0.4)] {
            assert!((found.value - value).abs() < 1e-12 && found.bound < 1e-5, "{found:?}, not {value}");
        }
        let left = [3.0, 1.0 - 0.6 * 2.2, 4.0, 2.0 - 0.8 * 2.2];
        assert!(a.iter().zip(left).all(|(found, value)| (found.value - value).abs() < 1e-12), "{a:?}");
    }

    #[test]
    fn only_near_values_are_accepted() {
        let computed = Bounded::new(1.0, 0.01);
        assert_eq!(accepted(computed, 1.0078125), Bounded::exact(1.0078125));
        assert_eq!(accepted(computed, 1.03), computed);
        assert_eq!(accepted(computed, f32::NAN), computed);
    }
}
