//! How a claim is measured: a metric of systems and workloads, made one number.

use serde::Deserialize;

use super::Kind;
use crate::grid::{Mean, divide};
use crate::metric::Metric;
use crate::paper::{FigureJob, MeasurementText, Normalise, Paper};
use crate::question::{Answers, Cell};
use crate::variant::Variant;

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
    fn of(self, numbers: &[f64]) -> Cell {
        match self {
            Reduce::Arithmetic => Mean::Arithmetic.of(numbers),
            Reduce::Geometric => Mean::Geometric.of(numbers),
            Reduce::Least => Ok(numbers.iter().copied().fold(f64::INFINITY, f64::min)),
            Reduce::Greatest => Ok(numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        }
    }
}

/// A measurement whose names have been looked up.
pub struct Measurement<'a> {
    /// As the paper's file has it.
    pub text: &'a MeasurementText,
    metric: &'a Metric,
    over_metric: &'a Metric,
    /// What is measured; several for one mean, or to find the best of, each then with its number.
    variants: Vec<(Variant, Option<f64>)>,
    over: Option<Variant>,
    bars: Option<(&'a Metric, Variant)>,
    workloads: &'a [String],
    reduce: Reduce,
}

impl<'a> Measurement<'a> {
    /// Looks a measurement's names up.
    ///
    /// # Errors
    /// A name that nothing bears, or systems named in no way or in several.
    pub fn new(paper: &'a Paper, text: &'a MeasurementText) -> Result<Self, String> {
        let variant = |name: &str| paper.variant(name, text.machine.as_deref());
        let named = text.system.iter().chain(&text.systems).map(|name| (name, None));
        let best = text.best_of.iter().map(|(name, number)| (name, Some(*number)));
        let ways = [text.system.is_some(), !text.systems.is_empty(), !text.best_of.is_empty()];
        if ways.into_iter().filter(|way| *way).count() != 1 {
            return Err("expected one of `system`, `systems` and `best_of`".into());
        }
        if text.over.is_none() && matches!(text.kind, Kind::Change | Kind::Ratio) {
            return Err("a change or ratio is over something: expected `over`".into());
        }
        if text.bars.is_some() && text.over.is_none() {
            return Err("a figure's bars are compared with each other: expected `over`".into());
        }
        let metric = paper.metric(&text.metric)?;
        let base = |bars: &Normalise| {
            let metric = bars.metric.as_ref().map_or(Ok(metric), |name| paper.metric(name))?;
            Ok::<_, String>((metric, variant(&bars.system)?))
        };
        Ok(Measurement {
            text,
            metric,
            over_metric: text.over_metric.as_ref().map_or(Ok(metric), |name| paper.metric(name))?,
            variants: named
                .chain(best)
                .map(|(name, number)| Ok((variant(name)?, number)))
                .collect::<Result<_, String>>()?,
            over: text.over.as_deref().map(variant).transpose()?,
            bars: text.bars.as_ref().map(base).transpose()?,
            workloads: paper.workloads(&text.workloads)?,
            reduce: text.reduce.unwrap_or(paper.mean.into()),
        })
    }

    /// The jobs that it needs.
    pub fn jobs(&self) -> Vec<FigureJob<'a>> {
        let systems = self.variants.iter().map(|(variant, _)| (self.metric, variant));
        let over = self.over.iter().map(|variant| (self.over_metric, variant));
        let bars = self.bars.iter().map(|(metric, variant)| (*metric, variant));
        let all: Vec<(&Metric, &Variant)> = systems.chain(over).chain(bars).collect();
        let of = |workload: &'a String| {
            all.iter().map(|(metric, variant)| FigureJob {
                kind: metric.kind,
                workload,
                variant: (*variant).clone(),
            })
        };
        self.workloads.iter().flat_map(of).collect()
    }

    /// The measured number in the claim's unit.
    ///
    /// # Errors
    /// A number is missing: nothing is measured on a part of the workloads.
    pub fn value(&self, answers: &mut Answers<'_>) -> Cell {
        let best: Option<(f64, f64)> = match self.text.best_of.is_empty() {
            true => None,
            false => Some(self.best(answers)?),
        };
        if let Some((_, number)) = best {
            return Ok(number);
        }
        let number = match (&self.bars, &self.over) {
            (Some((metric, base)), Some(over)) => {
                let bars = Some((*metric, base));
                let numbers = self.all(answers, bars)?;
                let over = self.numbers(answers, (self.over_metric, over), bars)?;
                divide(self.reduce.of(&numbers), &self.reduce.of(&over))?
            }
            (_, over) => {
                self.reduce.of(&self.all(answers, over.as_ref().map(|over| (self.over_metric, over)))?)?
            }
        };
        Ok(match self.text.kind {
            Kind::Change => 100.0 * (number - 1.0),
            Kind::Ratio | Kind::Share | Kind::Level => number,
        })
    }

    /// The greatest mean, and the number that goes with its system.
    fn best(&self, answers: &mut Answers<'_>) -> Result<(f64, f64), String> {
        let over = self.over.as_ref().map(|over| (self.over_metric, over));
        let mut best = (f64::NEG_INFINITY, f64::NAN);
        for (variant, number) in &self.variants {
            let mean = self.reduce.of(&self.numbers(answers, (self.metric, variant), over)?)?;
            if mean > best.0 {
                best = (mean, number.expect("each system to choose from has a number"));
            }
        }
        Ok(best)
    }

    /// The numbers of all that is measured.
    fn all(&self, answers: &mut Answers<'_>, over: Option<(&Metric, &Variant)>) -> Result<Vec<f64>, String> {
        let mut numbers = Vec::new();
        for (variant, _) in &self.variants {
            numbers.extend(self.numbers(answers, (self.metric, variant), over)?);
        }
        Ok(numbers)
    }

    /// A number a workload.
    fn numbers(
        &self,
        answers: &mut Answers<'_>,
        (metric, variant): (&Metric, &Variant),
        over: Option<(&Metric, &Variant)>,
    ) -> Result<Vec<f64>, String> {
        let mut numbers = Vec::new();
        let mut lacking: Vec<(&str, String)> = Vec::new();
        for workload in self.workloads {
            let mut cell = answers.value(metric, workload, variant);
            if let Some((over_metric, over)) = over {
                cell = cell.and_then(|value| divide(Ok(value), &answers.value(over_metric, workload, over)));
            }
            match cell {
                Ok(value) => numbers.push(value * self.text.scale),
                Err(_) if self.text.where_defined && answers.is_undefined(metric, workload, variant) => {}
                Err(reason) => lacking.push((workload, reason)),
            }
        }
        match lacking.first() {
            None if numbers.is_empty() => Err(format!("no workload has such a number on {}", variant.name)),
            None => Ok(numbers),
            Some((workload, reason)) => {
                let (count, all) = (lacking.len(), self.workloads.len());
                Err(format!(
                    "{count} of {all} workloads lack a number; {workload} on {}: {reason}",
                    variant.name
                ))
            }
        }
    }
}
