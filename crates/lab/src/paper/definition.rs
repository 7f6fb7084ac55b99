//! What kind of number a claim is, how it is made of the numbers of the workloads, and how numbers are drawn.

use serde::{Deserialize, Serialize};

use crate::grid::Mean;
use crate::question::Cell;

/// What kind of number a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Percent more or less than a baseline.
    Change,
    /// A difference of two percentages.
    Points,
    /// A multiple of a baseline.
    Ratio,
    /// A part of a whole in percent.
    Share,
    /// A quantity of its own.
    Level,
    /// Which of several systems is best, named by a number of it.
    Choice,
}

/// A claim that bounds the effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The effect is at least the published one.
    AtLeast,
    /// The effect is at most the published one.
    AtMost,
}

/// How the numbers of several workloads on two systems become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Definition {
    /// A quotient for each workload, then their mean.
    MeanOfRatios,
    /// The sum over the workloads on the one system, over that on the other.
    RatioOfSums,
    /// The mean on the one system less that on the other; for percentages.
    Points,
}

impl Definition {
    /// What a reader calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Definition::MeanOfRatios => "mean of ratios",
            Definition::RatioOfSums => "ratio of sums",
            Definition::Points => "points",
        }
    }
}

/// How several workloads become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduce {
    /// [`Mean::Arithmetic`].
    Arithmetic,
    /// [`Mean::Geometric`].
    Geometric,
    /// The smallest.
    Least,
    /// The greatest.
    Greatest,
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
    /// One number of several.
    ///
    /// # Errors
    /// As [`Mean::of`]; no number has no smallest.
    pub fn of(self, numbers: &[f64]) -> Cell {
        match self {
            Reduce::Arithmetic => Mean::Arithmetic.of(numbers),
            Reduce::Geometric => Mean::Geometric.of(numbers),
            _ if numbers.is_empty() => Err("no number to take the smallest or greatest of".into()),
            Reduce::Least => Ok(numbers.iter().copied().fold(f64::INFINITY, f64::min)),
            Reduce::Greatest => Ok(numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        }
    }

    /// What a reader calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Reduce::Arithmetic => "mean",
            Reduce::Geometric => "geometric mean",
            Reduce::Least => "least",
            Reduce::Greatest => "greatest",
        }
    }
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drawing {
    /// A bar a system, a group of them a workload.
    GroupedBars,
    /// A stack of metrics a system, a group of stacks a workload.
    StackedBars,
}
