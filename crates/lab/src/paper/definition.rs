//! Kinds of claims, how the numbers of workloads are combined, and how figures are drawn.

use serde::{Deserialize, Serialize};

use crate::grid::Mean;
use crate::question::Cell;

/// The kind of number that a claim states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Percent more or less than a baseline.
    Change,
    /// A difference of two percentages.
    Points,
    /// A multiple of a baseline.
    Ratio,
    /// A part of a whole, in percent.
    Share,
    /// A quantity without a baseline.
    Level,
    /// Which of several systems is best; each system is named by a number.
    Choice,
}

/// How a claim bounds the effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The effect is at least the published one.
    AtLeast,
    /// The effect is at most the published one.
    AtMost,
}

/// How the numbers of several workloads on two systems are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Definition {
    /// The mean of the quotients of the individual workloads.
    MeanOfRatios,
    /// The sum over the workloads on one system, divided by the sum on the other.
    RatioOfSums,
    /// The mean on one system minus the mean on the other; for percentages.
    Points,
}

impl Definition {
    /// Name that readers see.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Definition::MeanOfRatios => "mean of ratios",
            Definition::RatioOfSums => "ratio of sums",
            Definition::Points => "points",
        }
    }
}

/// How the numbers of several workloads are reduced to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduce {
    /// The arithmetic mean; see [`Mean::Arithmetic`].
    Arithmetic,
    /// The geometric mean; see [`Mean::Geometric`].
    Geometric,
    /// The reciprocal of the mean reciprocal: the lifetime of what runs every workload for as long.
    Harmonic,
    /// The smallest of the numbers.
    Least,
    /// The largest of the numbers.
    Greatest,
    /// How many of the numbers are below 1: the workloads on which one system has less than another.
    CountBelowOne,
}

impl From<Mean> for Reduce {
    fn from(mean: Mean) -> Reduce {
        match mean {
            Mean::Arithmetic => Reduce::Arithmetic,
            Mean::Geometric => Reduce::Geometric,
        }
    }
}

impl Reduce {
    /// Reduces `numbers` to one.
    ///
    /// # Errors
    /// As [`Mean::of`]; there is no smallest or largest of no numbers.
    pub fn of(self, numbers: &[f64]) -> Cell {
        match self {
            Reduce::Arithmetic => Mean::Arithmetic.of(numbers),
            Reduce::Geometric => Mean::Geometric.of(numbers),
            Reduce::Harmonic => {
                if let Some(number) = numbers.iter().find(|number| **number <= 0.0) {
                    return Err(format!("no harmonic mean of {number}"));
                }
                let reciprocals: Vec<f64> = numbers.iter().map(|number| number.recip()).collect();
                Mean::Arithmetic.of(&reciprocals).map(f64::recip)
            }
            _ if numbers.is_empty() => Err("least or greatest of no numbers".into()),
            Reduce::Least => Ok(numbers.iter().copied().fold(f64::INFINITY, f64::min)),
            Reduce::Greatest => Ok(numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            Reduce::CountBelowOne => Ok(numbers.iter().filter(|number| **number < 1.0).count() as f64),
        }
    }

    /// Name that readers see.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Reduce::Arithmetic => "mean",
            Reduce::Geometric => "geometric mean",
            Reduce::Harmonic => "harmonic mean",
            Reduce::Least => "least",
            Reduce::Greatest => "greatest",
            Reduce::CountBelowOne => "workloads below 1",
        }
    }
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drawing {
    /// A group of bars for each workload, with one bar for each system.
    GroupedBars,
    /// A group of stacks for each workload, with one stack of metrics for each system.
    StackedBars,
}
