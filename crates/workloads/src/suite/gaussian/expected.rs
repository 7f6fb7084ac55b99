//! Elimination row by row.

use crate::suite::prelude::*;

/// What forward elimination leaves.
pub(super) struct Eliminated {
    pub(super) multipliers: Vec<Near>,
    /// The triangle, and below it what rounding leaves of zeros.
    pub(super) a: Vec<Near>,
    pub(super) b: Vec<Near>,
}

impl Eliminated {
    /// After the first `steps` steps. Errors stay bounded because the diagonal dominates: the multipliers of a row sum to less than one.
    pub(super) fn new(n: usize, steps: usize, a: &[f32], b: &[f32]) -> Self {
        let bounded = |values: &[f32]| values.iter().map(|&value| value.into()).collect::<Vec<Bounded>>();
        let (mut a, mut b) = (bounded(a), bounded(b));
        let mut multipliers = vec![Bounded::ZERO; n * n];
        for step in 0..steps {
            let (done, below) = a.split_at_mut((step + 1) * n);
            let pivot_row = &done[step * n..];
            for (row, i) in below.chunks_exact_mut(n).zip(step + 1..) {
                let multiplier = row[step] / pivot_row[step];
                for (x, &pivot) in row.iter_mut().zip(pivot_row).skip(step) {
                    *x = *x - multiplier * pivot;
                }
                b[i] = b[i] - multiplier * b[step];
                multipliers[i * n + step] = multiplier;
            }
        }
        let near = |values: Vec<Bounded>| values.into_iter().map(Bounded::near).collect();
        Self { multipliers: near(multipliers), a: near(a), b: near(b) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(near: &[Near]) -> Vec<f64> {
        near.iter().map(|near| near.value).collect()
    }

    #[test]
    fn three_equations_by_hand() {
        let a = [4.0, 2.0, 0.0, 2.0, 5.0, 4.0, -1.0, 1.5, 6.0];
        let found = Eliminated::new(3, 2, &a, &[8.0, 6.0, 1.0]);
        assert_eq!(values(&found.multipliers), [0.0, 0.0, 0.0, 0.5, 0.0, 0.0, -0.25, 0.5, 0.0]);
        assert_eq!(values(&found.a), [4.0, 2.0, 0.0, 0.0, 4.0, 4.0, 0.0, 0.0, 4.0]);
        assert_eq!(values(&found.b), [8.0, 2.0, 2.0]);
    }

    /// A skipped step would be seen: it changes an element by about 1 / n.
    #[test]
    fn bounds_stay_far_below_one_step() {
        let system = super::super::Gaussian { n: 100, steps: Part::All };
        let (a, b) = system.inputs();
        let found = Eliminated::new(100, 99, &a, &b);
        let off_diagonal = found.a.iter().enumerate().filter(|(at, _)| at % 101 != 0);
        let widest = off_diagonal.map(|(_, near)| near.bound).fold(0.0, f64::max);
        assert!(widest < 1e-2 / 100.0, "{widest}");
    }
}
