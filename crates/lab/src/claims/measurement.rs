//! How a claim is measured: a metric over systems and workloads, reduced to one number.

use super::verdict::{Verdict, judge, judge_choice};
use crate::grid::divide;
use crate::metric::Metric;
use crate::paper::{Definition, FigureJob, Kind, MeasurementText, Normalise, Paper, ReadingText, Reduce};
use crate::question::{Answers, Cell};
use crate::setup::{Sets, Setup};
use crate::variant::Variant;

/// A measurement with all names resolved.
#[derive(Clone)]
pub struct Measurement<'a> {
    text: MeasurementText,
    metric: &'a Metric,
    over_metric: &'a Metric,
    /// The systems measured: several for a joint mean, or to find the best of. When choosing the best, each
    /// has the number that names it.
    setups: Vec<(Setup, Option<f64>)>,
    over: Option<Setup>,
    bars: Option<(&'a Metric, Setup)>,
    workloads: &'a [String],
    definition: Definition,
    reduce: Reduce,
}

/// The result of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The measured number, in the claim's unit.
    pub value: f64,
    /// How the measured number compares with the published one.
    pub verdict: Verdict,
}

impl<'a> Measurement<'a> {
    /// Resolves a measurement's names.
    ///
    /// # Errors
    /// An unknown name, or systems named in no way or in more than one.
    pub fn new(paper: &'a Paper, text: &MeasurementText) -> Result<Self, String> {
        Measurement::with(paper, text, &Sets::new())
    }

    /// Like [`Measurement::new`], with overrides for some systems.
    ///
    /// # Errors
    /// As [`Measurement::new`].
    pub fn with(paper: &'a Paper, text: &MeasurementText, sets: &Sets) -> Result<Self, String> {
        check(text)?;
        let setup = |name: &str| paper.setup_with(name, text.machine.as_deref(), sets);
        let named = text.system.iter().chain(&text.systems).map(|name| (name, None));
        let best = text.best_of.iter().map(|(name, number)| (name, Some(*number)));
        let metric = paper.metric(&text.metric)?;
        let base = |bars: &Normalise| {
            let metric = bars.metric.as_ref().map_or(Ok(metric), |name| paper.metric(name))?;
            Ok::<_, String>((metric, setup(&bars.system)?))
        };
        let points = if text.kind == Kind::Points { Definition::Points } else { Definition::MeanOfRatios };
        Ok(Measurement {
            metric,
            over_metric: text.over_metric.as_ref().map_or(Ok(metric), |name| paper.metric(name))?,
            setups: named
                .chain(best)
                .map(|(name, number)| Ok((setup(name)?, number)))
                .collect::<Result<_, String>>()?,
            over: text.over.as_deref().map(setup).transpose()?,
            bars: text.bars.as_ref().map(base).transpose()?,
            workloads: paper.workloads(&text.workloads)?,
            definition: text.definition.unwrap_or(points),
            reduce: text.reduce.unwrap_or(paper.mean.into()),
            text: text.clone(),
        })
    }

    /// The same measurement of other machines, which `make` makes of its own.
    #[must_use]
    pub fn on(&self, make: &dyn Fn(&Variant) -> Variant) -> Measurement<'a> {
        let of = |(setup, number): &(Setup, Option<f64>)| (setup.on(make), *number);
        Measurement {
            setups: self.setups.iter().map(of).collect(),
            over: self.over.as_ref().map(|over| over.on(make)),
            bars: self.bars.as_ref().map(|(metric, base)| (*metric, base.on(make))),
            ..self.clone()
        }
    }

    /// Its machines, those that it chooses from included.
    #[must_use]
    pub fn machines(&self) -> Vec<Variant> {
        let setups = self.setups.iter().map(|(setup, _)| setup);
        let bases = self.over.iter().chain(self.bars.iter().map(|(_, base)| base));
        setups.chain(bases).flat_map(|setup| setup.clone().machines()).collect()
    }

    /// Whether what others measure chooses some of them.
    #[must_use]
    pub fn chooses(&self) -> bool {
        let setups = self.setups.iter().map(|(setup, _)| setup);
        let bases = self.over.iter().chain(self.bars.iter().map(|(_, base)| base));
        setups.chain(bases).any(|setup| matches!(setup, Setup::Best(_)))
    }

    /// The kind of number.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.text.kind
    }

    /// Other ways to read the claim: those that the paper's file names and, where the paper does not say
    /// whether it means a mean of ratios or a ratio of sums over several workloads, the one not chosen.
    #[must_use]
    pub fn readings(&self) -> Vec<ReadingText> {
        let mut readings = self.text.also.clone();
        let is_mean = matches!(self.reduce, Reduce::Arithmetic | Reduce::Geometric);
        let two_ways = self.over.is_some() && self.bars.is_none() && is_mean && self.workloads.len() > 1;
        let other = match (self.text.kind, self.definition) {
            (Kind::Change | Kind::Ratio, Definition::MeanOfRatios) => Some(Definition::RatioOfSums),
            (Kind::Change | Kind::Ratio, Definition::RatioOfSums) => Some(Definition::MeanOfRatios),
            _ => None,
        };
        if let Some(other) = other.filter(|_| two_ways) {
            let definition = Some(other);
            readings.push(ReadingText { name: other.name().into(), definition, ..ReadingText::default() });
        }
        readings
    }

    /// Describes how the number is computed from those of the workloads.
    #[must_use]
    pub fn definition(&self) -> String {
        let several = self.workloads.len() > 1;
        match (self.text.kind, self.over.is_some()) {
            (Kind::Choice, _) => format!("greatest {}", self.reduce.name()),
            (_, false) if several => self.reduce.name().to_owned(),
            (_, false) => "one number".into(),
            _ if self.bars.is_some() => "ratio of mean bars".into(),
            _ if self.definition != Definition::MeanOfRatios => self.definition.name().to_owned(),
            _ if several => match self.reduce {
                Reduce::Least | Reduce::Greatest => format!("{} ratio", self.reduce.name()),
                Reduce::CountBelowOne => self.reduce.name().to_owned(),
                Reduce::Arithmetic | Reduce::Geometric | Reduce::Harmonic => {
                    format!("{} of ratios", self.reduce.name())
                }
            },
            _ => "ratio".into(),
        }
    }

    /// The jobs that the measurement needs.
    #[must_use]
    pub fn jobs(&self) -> Vec<FigureJob<'a>> {
        let systems = self.setups.iter().map(|(setup, _)| (self.metric, setup));
        let over = self.over.iter().map(|setup| (self.over_metric, setup));
        let bars = self.bars.iter().map(|(metric, setup)| (*metric, setup));
        let all: Vec<(&Metric, &Setup)> = systems.chain(over).chain(bars).collect();
        let of =
            |workload: &'a String| all.iter().flat_map(|(metric, setup)| setup.jobs(metric.kind, workload));
        self.workloads.iter().flat_map(of).collect()
    }

    /// The measured number and the verdict on the published one.
    ///
    /// # Errors
    /// If a number is missing; a mean over only some of the workloads is not reported.
    pub fn outcome(&self, answers: &mut Answers<'_>, published: f64) -> Result<Outcome, String> {
        if self.text.kind == Kind::Choice {
            return self.choice(answers, published);
        }
        let value = self.value(answers)?;
        Ok(Outcome { value, verdict: judge(self.text.kind, self.text.bound, published, value) })
    }

    /// The measured number, in the claim's unit.
    ///
    /// # Errors
    /// As [`Measurement::outcome`].
    pub fn value(&self, answers: &mut Answers<'_>) -> Cell {
        let number = match (&self.over, &self.bars) {
            _ if self.text.kind == Kind::Choice => {
                return self.choice(answers, f64::NAN).map(|outcome| outcome.value);
            }
            (Some(over), Some((metric, base))) => self.separately(answers, over, Some((*metric, base)))?,
            (Some(over), None) if self.definition != Definition::MeanOfRatios => {
                self.separately(answers, over, None)?
            }
            _ => return self.reduced(&self.of_workloads(answers)?),
        };
        Ok(self.in_unit(number))
    }

    /// One number for each workload, where the measurement reduces these to one.
    ///
    /// # Errors
    /// As [`Measurement::outcome`], and for a measurement of another kind.
    pub(super) fn of_workloads(&self, answers: &mut Answers<'_>) -> Result<Vec<f64>, String> {
        let of_ratios = self.over.is_none() || self.definition == Definition::MeanOfRatios;
        if self.text.kind == Kind::Choice || self.bars.is_some() || !of_ratios {
            return Err("expected a mean of one number for each workload".into());
        }
        self.all(answers, self.over.as_ref().map(|over| (self.over_metric, over)))
    }

    /// The measured number from those of the workloads, in the claim's unit.
    ///
    /// # Errors
    /// As [`Reduce::of`].
    pub(super) fn reduced(&self, numbers: &[f64]) -> Cell {
        Ok(self.in_unit(self.reduce.of(numbers)?))
    }

    fn in_unit(&self, number: f64) -> f64 {
        match self.text.kind {
            Kind::Change => 100.0 * (number - 1.0),
            Kind::Points | Kind::Ratio | Kind::Share | Kind::Level | Kind::Choice => number,
        }
    }

    /// Reduces each system's workloads to one number first, then compares the systems.
    fn separately(&self, answers: &mut Answers<'_>, over: &Setup, bars: Option<(&Metric, &Setup)>) -> Cell {
        // Sums are in the ratio of arithmetic means, whatever mean the paper takes.
        let is_sum = bars.is_none() && self.definition == Definition::RatioOfSums;
        let reduce = if is_sum { Reduce::Arithmetic } else { self.reduce };
        let systems = reduce.of(&self.all(answers, bars)?)?;
        let over = reduce.of(&self.numbers(answers, (self.over_metric, over), bars)?)?;
        if self.definition == Definition::Points {
            Ok(systems - over)
        } else {
            divide(Ok(systems), &Ok(over))
        }
    }

    /// Chooses the system with the greatest mean and returns the number that names it.
    fn choice(&self, answers: &mut Answers<'_>, published: f64) -> Result<Outcome, String> {
        let over = self.over.as_ref().map(|over| (self.over_metric, over));
        let mut means = Vec::new();
        for (setup, number) in &self.setups {
            let mean = self.reduce.of(&self.numbers(answers, (self.metric, setup), over)?)?;
            means.push((number.expect("each system to choose from has a number"), mean));
        }
        let best = means.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1));
        let (value, _) = best.ok_or("there is nothing to choose from")?;
        let (those, others): (Vec<_>, Vec<_>) =
            means.into_iter().partition(|(number, _)| *number == published);
        let others: Vec<f64> = others.into_iter().map(|(_, mean)| mean).collect();
        let verdict = those.first().map_or(Verdict::Contradicted, |(_, mean)| judge_choice(*mean, &others));
        Ok(Outcome { value, verdict })
    }

    /// The numbers of all measured systems.
    fn all(&self, answers: &mut Answers<'_>, over: Option<(&Metric, &Setup)>) -> Result<Vec<f64>, String> {
        let mut numbers = Vec::new();
        for (setup, _) in &self.setups {
            numbers.extend(self.numbers(answers, (self.metric, setup), over)?);
        }
        Ok(numbers)
    }

    /// One number for each workload.
    fn numbers(
        &self,
        answers: &mut Answers<'_>,
        (metric, setup): (&Metric, &Setup),
        over: Option<(&Metric, &Setup)>,
    ) -> Result<Vec<f64>, String> {
        let mut numbers = Vec::new();
        let mut lacking: Vec<(&str, String)> = Vec::new();
        for workload in self.workloads {
            let mut cell = setup.value(answers, metric, workload);
            let mut undefined = setup.is_undefined(answers, metric, workload);
            if let Some((over_metric, over)) = over {
                let base = over.value(answers, over_metric, workload);
                undefined |= base == Ok(0.0) || over.is_undefined(answers, over_metric, workload);
                cell = cell.and_then(|value| divide(Ok(value), &base));
            }
            match cell {
                Ok(value) => numbers.push(value * self.text.scale),
                Err(_) if self.text.where_defined && undefined => {}
                Err(reason) => lacking.push((workload, reason)),
            }
        }
        match lacking.first() {
            None if numbers.is_empty() => Err(format!("no workload has such a number on {}", setup.name())),
            None => Ok(numbers),
            Some((workload, reason)) => {
                let (count, all) = (lacking.len(), self.workloads.len());
                Err(format!(
                    "{count} of {all} workloads lack a number; {workload} on {}: {reason}",
                    setup.name()
                ))
            }
        }
    }
}

/// Refuses parts of a measurement that do not go together.
fn check(text: &MeasurementText) -> Result<(), String> {
    let ways = [text.system.is_some(), !text.systems.is_empty(), !text.best_of.is_empty()];
    if ways.into_iter().filter(|way| *way).count() != 1 {
        return Err("expected one of `system`, `systems` and `best_of`".into());
    }
    if text.best_of.is_empty() == (text.kind == Kind::Choice) {
        return Err("expected `best_of` for kind `choice`, and for no other".into());
    }
    let is_over = matches!(text.kind, Kind::Change | Kind::Ratio | Kind::Points);
    if text.over.is_none() && is_over {
        return Err("a change, ratio or difference is over something: expected `over`".into());
    }
    if text.bars.is_some() && text.over.is_none() {
        return Err("a figure's bars are compared with each other: expected `over`".into());
    }
    let points = text.definition.map_or(text.kind == Kind::Points, |of| of == Definition::Points);
    if points != (text.kind == Kind::Points) {
        return Err("expected definition `points` for kind `points`, and for no other".into());
    }
    Ok(())
}
