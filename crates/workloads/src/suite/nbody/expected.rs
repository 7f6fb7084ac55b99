//! All pairs, body by body, with the bound on every position's and velocity's rounding errors carried along.

use super::{Bodies, DAMPING, SOFTENING_SQUARED, STEP};
use crate::suite::prelude::*;

impl Bodies<f32> {
    /// The bodies after all steps.
    pub(super) fn expected(&self, steps: usize) -> Bodies<Bounded> {
        let bounded = |bodies: &[[f32; 4]]| bodies.iter().map(|body| body.map(Bounded::from)).collect();
        let start = Bodies { positions: bounded(&self.positions), velocities: bounded(&self.velocities) };
        (0..steps).fold(start, |bodies, _| bodies.next())
    }
}

impl Bodies<Bounded> {
    fn next(&self) -> Self {
        let (step, damping) = (Bounded::from(STEP), Bounded::from(DAMPING));
        let move_body = |(body, velocity): (&[Bounded; 4], &[Bounded; 4])| {
            let (mut body, mut velocity) = (*body, *velocity);
            for (axis, pull) in acceleration(&self.positions, &body).into_iter().enumerate() {
                velocity[axis] = (velocity[axis] + pull * step) * damping;
                body[axis] += velocity[axis] * step;
            }
            (body, velocity)
        };
        let (positions, velocities) = self.positions.iter().zip(&self.velocities).map(move_body).unzip();
        Self { positions, velocities }
    }
}

/// The pull of all bodies on one, in their order.
fn acceleration(bodies: &[[Bounded; 4]], body: &[Bounded; 4]) -> [Bounded; 3] {
    let softening = Bounded::from(SOFTENING_SQUARED);
    let mut sum = [Bounded::ZERO; 3];
    for other in bodies {
        let away = [0, 1, 2].map(|axis| other[axis] - body[axis]);
        let squared = away[0] * away[0] + away[1] * away[1] + away[2] * away[2] + softening;
        let inverse = reciprocal_root(squared);
        let pull = other[3] * (inverse * inverse * inverse);
        for (sum, away) in sum.iter_mut().zip(away) {
            *sum += away * pull;
        }
    }
    sum
}

/// rsqrtf: 2 ulp (CUDA C++ Programming Guide, mathematical functions).
fn reciprocal_root(x: Bounded) -> Bounded {
    let low = x.value() - x.error();
    x.map(|x| 1.0 / x.sqrt(), 0.5 / (low * low.sqrt()), 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two bodies a distance of 1 apart on the x axis, masses 1 and 2.
    #[test]
    fn two_bodies_fall_towards_each_other() {
        let positions = vec![[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 2.0]];
        let velocities = vec![[0.0, 0.5, 0.0, 1.0], [0.0; 4]];
        let found = Bodies { positions, velocities }.expected(1);
        let pull = (1.0 + f64::from(SOFTENING_SQUARED)).powf(-1.5);
        let step = f64::from(STEP);
        let near = |found: Bounded, value: f64| (found.value() - value).abs() < 1e-12 && found.error() < 1e-6;
        assert!(near(found.velocities[0][0], 2.0 * pull * step));
        assert!(near(found.velocities[0][1], 0.5));
        assert!(near(found.velocities[1][0], -pull * step));
        assert!(near(found.positions[0][1], 0.5 * step));
        assert!(near(found.positions[1][0], 1.0 - pull * step * step));
        assert_eq!(found.positions[1][3], Bounded::exact(2.0));
    }
}
