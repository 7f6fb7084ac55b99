//! Sobol indices: how much of a number's variance comes from each assumption (Sobol, *Global sensitivity indices for nonlinear
//! mathematical models*, 2001), by Saltelli's sampling (Saltelli et al., *Variance based sensitivity analysis of model output*, 2010).
//!
//! Two points are drawn, `a` and `b`, and for each assumption, or each group of them, one more that is `a` with its places from `b`.
//! The *first-order* index is the part of the variance that the assumption makes by itself: what would be gone on average, were it
//! known (Saltelli's estimator). The *total* one counts its part of what it makes together with others too (Jansen's).

use serde::{Deserialize, Serialize};
use strata_engine::seed::Stream;

use super::{Point, place, quantile, shuffled};

/// Two points whose places are exchanged, group by group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The one that the others are made of.
    pub a: Point,
    /// The one that their places come from.
    pub b: Point,
}

impl Pair {
    /// Draws so many. Places of each assumption are spread evenly: one in each of as many parts of its range (a Latin hypercube).
    #[must_use]
    pub fn all(assumptions: usize, count: usize, stream: &mut Stream) -> Vec<Pair> {
        let mut half = || {
            let columns: Vec<Vec<usize>> = (0..assumptions).map(|_| shuffled(count, stream)).collect();
            let part = |row: usize, stream: &mut Stream| {
                let of = |column: &Vec<usize>| (column[row] as f64 + place(stream)) / count as f64;
                columns.iter().map(of).collect::<Point>()
            };
            (0..count).map(|row| part(row, stream)).collect::<Vec<Point>>()
        };
        let (one, other) = (half(), half());
        one.into_iter().zip(other).map(|(a, b)| Pair { a, b }).collect()
    }

    /// Draws one by itself.
    #[must_use]
    pub fn new(assumptions: usize, stream: &mut Stream) -> Pair {
        let mut half = || (0..assumptions).map(|_| place(stream)).collect::<Point>();
        Pair { a: half(), b: half() }
    }

    /// The points at which numbers are wanted: `a`, `b`, and for each group `a` with that group's places from `b`.
    #[must_use]
    pub fn points(&self, groups: &[Vec<usize>]) -> Vec<Point> {
        let exchanged = |group: &Vec<usize>| {
            let mut point = self.a.clone();
            group.iter().for_each(|of| point[*of] = self.b[*of]);
            point
        };
        [self.a.clone(), self.b.clone()].into_iter().chain(groups.iter().map(exchanged)).collect()
    }
}

/// A number, and between what nine tenths of a bootstrap's samples lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// How much of a number's variance comes from a group of assumptions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Index {
    /// By itself.
    pub first: Estimate,
    /// By itself and together with others.
    pub total: Estimate,
}

/// Samples of the bootstrap.
const SAMPLES: usize = 1000;

/// The indices of each group, from the numbers at the points of each pair ([`Pair::points`]); `None` where the number never varies, or
/// of fewer than two pairs.
#[must_use]
pub fn indices(numbers: &[Vec<f64>], seed: u64) -> Option<Vec<Index>> {
    let groups = numbers.first()?.len() - 2;
    let rows: Vec<&[f64]> = numbers.iter().map(Vec::as_slice).collect();
    let found = estimate(&rows)?;
    let mut stream = Stream::new(seed, "bootstrap");
    let mut samples = vec![[Vec::new(), Vec::new()]; groups];
    for _ in 0..SAMPLES {
        let drawn: Vec<&[f64]> =
            rows.iter().map(|_| rows[stream.below(rows.len() as u64) as usize]).collect();
        for (group, [first, total]) in estimate(&drawn).into_iter().flatten().enumerate() {
            samples[group][0].push(first);
            samples[group][1].push(total);
        }
    }
    let with = |value: f64, samples: &[f64]| {
        let [low, _, high] = quantile::spread(samples).unwrap_or([value; 3]);
        Estimate { value, low, high }
    };
    let index = |([first, total], samples): ([f64; 2], &[Vec<f64>; 2])| Index {
        first: with(first, &samples[0]),
        total: with(total, &samples[1]),
    };
    Some(found.into_iter().zip(&samples).map(index).collect())
}

/// First-order and total index of each group.
fn estimate(rows: &[&[f64]]) -> Option<Vec<[f64; 2]>> {
    let count = rows.len() as f64;
    let both = || rows.iter().flat_map(|row| &row[..2]);
    let mean = both().sum::<f64>() / (2.0 * count);
    let variance = both().map(|number| (number - mean).powi(2)).sum::<f64>() / (2.0 * count - 1.0);
    // What rounding makes of a number that never varies is no variance.
    if rows.len() < 2 || variance <= (mean.abs() * 1e-12).powi(2) {
        return None;
    }
    let of = |group: usize| {
        let sum = |part: &dyn Fn(f64, f64, f64) -> f64| {
            rows.iter().map(|row| part(row[0], row[1], row[2 + group])).sum::<f64>() / count
        };
        let first = sum(&|a, b, exchanged| (b - mean) * (exchanged - a));
        let total = sum(&|a, _, exchanged| (a - exchanged).powi(2)) / 2.0;
        [first / variance, total / variance]
    };
    Some((0..rows[0].len() - 2).map(of).collect())
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    /// The indices of a function's arguments, each a group.
    fn of(arguments: usize, count: usize, function: impl Fn(&[f64]) -> f64) -> Vec<Index> {
        let groups: Vec<Vec<usize>> = (0..arguments).map(|argument| vec![argument]).collect();
        of_groups(arguments, &groups, count, function)
    }

    fn of_groups(
        arguments: usize,
        groups: &[Vec<usize>],
        count: usize,
        function: impl Fn(&[f64]) -> f64,
    ) -> Vec<Index> {
        let pairs = Pair::all(arguments, count, &mut Stream::new(7, "pairs"));
        let numbers = |pair: &Pair| pair.points(groups).iter().map(|point| function(point)).collect();
        indices(&pairs.iter().map(numbers).collect::<Vec<_>>(), 7).unwrap()
    }

    fn assert_near(found: &[Index], expected: &[[f64; 2]], within: f64) {
        for (index, [first, total]) in found.iter().zip(expected) {
            assert!((index.first.value - first).abs() < within, "{found:?}");
            assert!((index.total.value - total).abs() < within, "{found:?}");
            assert!(index.first.low <= index.first.value && index.first.value <= index.first.high);
            assert!(index.total.low <= *total + within && *total - within <= index.total.high, "{found:?}");
        }
    }

    #[test]
    fn those_of_ishigamis_function_are_known() {
        // sin x + 7 sin^2 y + 0.1 z^4 sin x, all from -pi to pi.
        let found = of(3, 8192, |x| {
            let x: Vec<f64> = x.iter().map(|x| (2.0 * x - 1.0) * PI).collect();
            x[0].sin() + 7.0 * x[1].sin().powi(2) + 0.1 * x[2].powi(4) * x[0].sin()
        });
        let (a, b) = (7.0_f64, 0.1_f64);
        let of_x = 0.5 * (1.0 + b * PI.powi(4) / 5.0).powi(2);
        let of_y = a.powi(2) / 8.0;
        let of_both = 8.0 * b.powi(2) * PI.powi(8) / 225.0;
        let all = of_x + of_y + of_both;
        let expected = [[of_x / all, (of_x + of_both) / all], [of_y / all, of_y / all], [0.0, of_both / all]];
        assert!((expected[0][0] - 0.3139).abs() < 1e-4 && (expected[2][1] - 0.2437).abs() < 1e-4);
        assert_near(&found, &expected, 0.03);
    }

    #[test]
    fn those_of_sobols_g_function_are_known() {
        let a = [0.0, 1.0, 4.5, 9.0, 99.0];
        let found =
            of(5, 8192, |x| x.iter().zip(a).map(|(x, a)| ((4.0 * x - 2.0).abs() + a) / (1.0 + a)).product());
        let parts: Vec<f64> = a.iter().map(|a| 1.0 / (3.0 * (1.0 + a).powi(2))).collect();
        let all: f64 = parts.iter().map(|part| 1.0 + part).product::<f64>() - 1.0;
        let total = |part: &f64| {
            let others: f64 = parts.iter().map(|part| 1.0 + part).product::<f64>() / (1.0 + part);
            part * others / all
        };
        let expected: Vec<[f64; 2]> = parts.iter().map(|part| [part / all, total(part)]).collect();
        assert_near(&found, &expected, 0.03);
    }

    #[test]
    fn what_depends_on_one_argument_alone_has_all_of_its_variance_there() {
        let found = of(3, 16, |x| 100.0 + 5.0 * x[1]);
        for (argument, index) in found.iter().enumerate() {
            if argument == 1 {
                assert!((index.first.value - 1.0).abs() < 0.2 && (index.total.value - 1.0).abs() < 0.2);
            } else {
                assert_eq!([index.first.value, index.total.value, index.total.high], [0.0; 3]);
            }
        }
    }

    #[test]
    fn a_group_has_what_its_arguments_make_together() {
        // x y, both even from 0 to 1: 3/7 each alone, 1/7 together.
        let found = of(3, 8192, |x| x[0] * x[1]);
        assert_near(&found, &[[3.0 / 7.0, 4.0 / 7.0], [3.0 / 7.0, 4.0 / 7.0], [0.0, 0.0]], 0.03);
        let found = of_groups(3, &[vec![0, 1], vec![2]], 8192, |x| x[0] * x[1]);
        assert_near(&found, &[[1.0, 1.0], [0.0, 0.0]], 0.03);
    }

    #[test]
    fn a_number_that_never_varies_has_no_indices() {
        let rows = vec![vec![0.3, 0.3, 0.1 + 0.2]; 8];
        assert_eq!(indices(&rows, 1), None);
        assert_eq!(indices(&[vec![1.0, 2.0, 1.5]], 1), None);
        assert_eq!(indices(&[], 1), None);
    }

    #[test]
    fn places_are_spread_evenly() {
        let pairs = Pair::all(2, 10, &mut Stream::new(1, "pairs"));
        for column in 0..2 {
            for half in [|pair: &Pair| pair.a.clone(), |pair: &Pair| pair.b.clone()] {
                let mut parts: Vec<u32> =
                    pairs.iter().map(|pair| (half(pair)[column] * 10.0) as u32).collect();
                parts.sort_unstable();
                assert_eq!(parts, (0..10).collect::<Vec<_>>());
            }
        }
    }
}
