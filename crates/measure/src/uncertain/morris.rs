//! Elementary effects: which of many assumptions move a number (Morris, *Factorial sampling plans for preliminary computational
//! experiments*, Technometrics 1991; the mean of absolute effects is Campolongo, Cariboni and Saltelli's, 2007).
//!
//! A trajectory begins at a random point of a grid of four levels and moves one assumption after the other by two thirds of its range.
//! What a step changes, over the length of the step, is the assumption's effect there: of a linear function its coefficient.

use serde::{Deserialize, Serialize};
use strata_engine::seed::Stream;

use super::{Point, shuffled};

/// Length of a step. With four levels it makes all of them equally likely.
const STEP: f64 = 2.0 / 3.0;

/// A way through the ranges that moves each assumption once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// Its points: one more than there are assumptions.
    pub points: Vec<Point>,
    /// Which assumption each step moves.
    pub order: Vec<usize>,
}

impl Trajectory {
    /// Draws one through so many assumptions.
    #[must_use]
    pub fn new(assumptions: usize, stream: &mut Stream) -> Trajectory {
        // From one of the two lower levels up, or back.
        let ends: Vec<(f64, f64)> = (0..assumptions)
            .map(|_| {
                let low = stream.below(2) as f64 / 3.0;
                if stream.below(2) == 0 { (low, low + STEP) } else { (low + STEP, low) }
            })
            .collect();
        let order = shuffled(assumptions, stream);
        let mut point: Point = ends.iter().map(|(from, _)| *from).collect();
        let mut points = vec![point.clone()];
        for moved in &order {
            point[*moved] = ends[*moved].1;
            points.push(point.clone());
        }
        Trajectory { points, order }
    }

    /// The effect of each step, with the assumption that it moves, where the numbers at both of its ends are known.
    pub fn effects<'a>(&'a self, numbers: &'a [Option<f64>]) -> impl Iterator<Item = (usize, f64)> + 'a {
        self.order.iter().enumerate().filter_map(move |(step, moved)| {
            let change = numbers.get(step + 1)?.as_ref()? - numbers[step].as_ref()?;
            Some((*moved, change / (self.points[step + 1][*moved] - self.points[step][*moved])))
        })
    }
}

/// What an assumption does to a number, over some trajectories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Effect {
    /// The mean of its effects: what its whole range changes, up or down.
    pub mean: f64,
    /// The mean of their absolute values, mu*: by how much it moves the number, whichever way.
    pub size: f64,
    /// Their standard deviation: how much the effect depends on where it, and all others, are. 0 of a single one.
    pub deviation: f64,
    /// How many there are.
    pub count: usize,
}

impl Effect {
    fn of(effects: &[f64]) -> Effect {
        let count = effects.len();
        if count == 0 {
            return Effect::default();
        }
        let mean = effects.iter().sum::<f64>() / count as f64;
        let size = effects.iter().map(|effect| effect.abs()).sum::<f64>() / count as f64;
        let squares: f64 = effects.iter().map(|effect| (effect - mean).powi(2)).sum();
        let deviation = if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 };
        Effect { mean, size, deviation, count }
    }
}

/// The effects of so many assumptions on a number, from its values at the points of some trajectories.
#[must_use]
pub fn effects(assumptions: usize, trajectories: &[(&Trajectory, Vec<Option<f64>>)]) -> Vec<Effect> {
    let mut all = vec![Vec::new(); assumptions];
    for (trajectory, numbers) in trajectories {
        trajectory.effects(numbers).for_each(|(moved, effect)| all[moved].push(effect));
    }
    all.iter().map(|effects| Effect::of(effects)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The effects on a function.
    fn of(assumptions: usize, function: impl Fn(&[f64]) -> f64) -> Vec<Effect> {
        let drawn: Vec<Trajectory> =
            (0..40).map(|number| Trajectory::new(assumptions, &mut Stream::new(number, "t"))).collect();
        let numbers = drawn.iter().map(|trajectory| {
            (trajectory, trajectory.points.iter().map(|point| Some(function(point))).collect())
        });
        effects(assumptions, &numbers.collect::<Vec<_>>())
    }

    #[test]
    fn of_a_linear_function_they_are_its_coefficients() {
        let found = of(4, |x| 3.0 * x[0] - 7.0 * x[1] + 0.5 * x[2] + 100.0);
        for (effect, coefficient) in found.iter().zip([3.0_f64, -7.0, 0.5, 0.0]) {
            assert!((effect.mean - coefficient).abs() < 1e-9, "{found:?}");
            assert!((effect.size - coefficient.abs()).abs() < 1e-9, "{found:?}");
            assert!(effect.deviation < 1e-9 && effect.count == 40, "{found:?}");
        }
    }

    #[test]
    fn effects_that_cancel_have_a_size_and_interactions_a_deviation() {
        // Up in the lower half, down in the upper one; and a product.
        let found = of(3, |x| (x[0] - 0.5).powi(2) * 9.0 + x[1] * x[2]);
        // From 0 to 2/3 and from 1/3 to 1: (1/36 - 1/4) 9 / (2/3) = -3, and 3.
        assert!((found[0].size - 3.0).abs() < 1e-9 && found[0].mean.abs() < 1.0, "{found:?}");
        // The other factor is one of 0, 1/3, 2/3 and 1.
        assert!((found[1].size - 0.5).abs() < 0.2 && found[1].deviation > 0.3, "{found:?}");
    }

    #[test]
    fn a_trajectory_moves_each_once_along_the_grid() {
        let drawn = Trajectory::new(5, &mut Stream::new(1, "t"));
        assert_eq!(drawn, Trajectory::new(5, &mut Stream::new(1, "t")));
        assert_ne!(drawn, Trajectory::new(5, &mut Stream::new(2, "t")));
        let mut moved = drawn.order.clone();
        moved.sort_unstable();
        assert_eq!((moved, drawn.points.len()), (vec![0, 1, 2, 3, 4], 6));
        for (step, of) in drawn.points.windows(2).zip(&drawn.order) {
            let changed: Vec<usize> = (0..5).filter(|place| step[0][*place] != step[1][*place]).collect();
            assert_eq!(changed, [*of]);
        }
        assert!(drawn.points.iter().flatten().all(|x| ((x * 3.0) - (x * 3.0).round()).abs() < 1e-9));
    }

    #[test]
    fn numbers_that_lack_make_no_effect() {
        let drawn = Trajectory::new(2, &mut Stream::new(1, "t"));
        let numbers = vec![Some(1.0), None, Some(3.0)];
        assert_eq!(effects(2, &[(&drawn, numbers)]), [Effect::default(); 2]);
    }
}
