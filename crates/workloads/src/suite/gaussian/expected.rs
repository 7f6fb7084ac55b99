//! Elimination row by row.

use super::System;
use crate::suite::prelude::*;

/// Forward elimination under way.
pub(super) struct Elimination {
    n: usize,
    multipliers: Vec<Bounded>,
    a: Vec<Bounded>,
    b: Vec<Bounded>,
}

/// What forward elimination leaves.
pub(super) struct Eliminated {
    pub(super) multipliers: Vec<Near>,
    /// The triangle, and below it what rounding leaves of zeros.
    pub(super) a: Vec<Near>,
    pub(super) b: Vec<Near>,
}

impl Elimination {
    /// A system as it stands, without errors.
    pub(super) fn new(n: usize, System { multipliers, a, b }: &System) -> Self {
        let bounded = |values: &[f32]| values.iter().map(|&value| value.into()).collect::<Vec<Bounded>>();
        Self { n, multipliers: bounded(multipliers), a: bounded(a), b: bounded(b) }
    }

    /// Clears a column. Errors stay bounded because the diagonal dominates: the multipliers of a row sum to less than
    /// one.
    pub(super) fn step(&mut self, step: usize) {
        let n = self.n;
        let (done, below) = self.a.split_at_mut((step + 1) * n);
        let pivot_row = &done[step * n..];
        for (row, i) in below.chunks_exact_mut(n).zip(step + 1..) {
            let multiplier = row[step] / pivot_row[step];
            for (x, &pivot) in row.iter_mut().zip(pivot_row).skip(step) {
                *x = *x - multiplier * pivot;
            }
            self.b[i] = self.b[i] - multiplier * self.b[step];
            self.multipliers[i * n + step] = multiplier;
        }
    }

    /// The intervals for a comparison.
    pub(super) fn near(self) -> Eliminated {
        let near = |values: Vec<Bounded>| values.into_iter().map(Bounded::near).collect();
        Eliminated { multipliers: near(self.multipliers), a: near(self.a), b: near(self.b) }
    }

    /// All steps.
    pub(super) fn whole(n: usize, system: &System) -> Eliminated {
        let mut elimination = Self::new(n, system);
        (0..n - 1).for_each(|step| elimination.step(step));
        elimination.near()
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
        let found = Elimination::whole(3, &System::new(a.to_vec(), vec![8.0, 6.0, 1.0]));
        assert_eq!(values(&found.multipliers), [0.0, 0.0, 0.0, 0.5, 0.0, 0.0, -0.25, 0.5, 0.0]);
        assert_eq!(values(&found.a), [4.0, 2.0, 0.0, 0.0, 4.0, 4.0, 0.0, 0.0, 4.0]);
        assert_eq!(values(&found.b), [8.0, 2.0, 2.0]);
    }

    /// Steps of the host, in f32, lie within the bounds of the same steps.
    #[test]
    fn the_host_eliminates_alike() {
        let mut system = System::random(40);
        let expected = Elimination::whole(40, &system);
        (0..39).for_each(|step| system.eliminate(40, step));
        for (found, expected) in
            [(system.multipliers, expected.multipliers), (system.a, expected.a), (system.b, expected.b)]
        {
            assert!(crate::Comparison::near("system", &found, &expected).passed());
        }
    }

    /// A skipped step would be seen: it changes an element by about 1 / n.
    #[test]
    fn bounds_stay_far_below_one_step() {
        let found = Elimination::whole(100, &System::random(100));
        let off_diagonal = found.a.iter().enumerate().filter(|(at, _)| at % 101 != 0);
        let widest = off_diagonal.map(|(_, near)| near.bound).fold(0.0, f64::max);
        assert!(widest < 1e-2 / 100.0, "{widest}");
    }
}
