//! What a study asks: numbers, and the jobs that they take on any machines.

use serde::{Deserialize, Serialize};

use crate::claims::{self, Claim, Measurement};
use crate::compare::{Comparison, Impossible};
use crate::grid::{Mean, divide};
use crate::job::Job;
use crate::paper::{Kind, Paper};
use crate::question::{Answers, Cell};
use crate::report::number;
use crate::variant::Variant;

/// Makes a machine of another.
pub type Make<'a> = &'a dyn Fn(&Variant) -> Variant;

/// A number that is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Number {
    /// What it is called.
    pub id: String,
    /// What stands in front of a value: a sign, for a change.
    pub signed: bool,
    /// What stands behind a value.
    pub unit: String,
    /// What is published, as printed.
    pub published: Option<String>,
}

impl Number {
    /// A value of it, as text.
    #[must_use]
    pub fn text(&self, value: f64) -> String {
        let sign = if self.signed && value > 0.0 { "+" } else { "" };
        format!("{sign}{}{}", number(value), self.unit)
    }
}

/// Numbers that are computed from runs on machines.
pub trait Asked {
    /// What they are.
    fn numbers(&self) -> Vec<Number>;

    /// The machines, as they are modelled.
    fn machines(&self) -> Vec<Variant>;

    /// Whether some are chosen by what others measure, so that not all jobs are known before some have run.
    fn chooses(&self) -> bool;

    /// The jobs that the numbers take on other machines, as far as is known: what a choice falls on is known once its jobs have run.
    ///
    /// # Errors
    /// A machine that cannot be built.
    fn jobs(&self, make: Make<'_>, answers: &mut Answers<'_>) -> Result<Vec<Job>, String>;

    /// Their values on other machines.
    fn values(&self, make: Make<'_>, answers: &mut Answers<'_>) -> Vec<Cell>;
}

/// How many of a paper's claims are asked for if none is named, and none is its abstract's.
const FIRST: usize = 5;

/// Claims of a paper.
pub struct Claims<'a>(Vec<(Number, Measurement<'a>)>);

impl<'a> Claims<'a> {
    /// These claims of a paper; if none is named, those of its abstract, or if there are none, its first.
    ///
    /// # Errors
    /// A claim that the paper does not measure.
    pub fn new(paper: &'a Paper, named: &[String]) -> Result<Claims<'a>, String> {
        let all = claims::all();
        let ids = if named.is_empty() { headline(paper, &all) } else { named.to_vec() };
        let claim = |id: String| {
            let text = paper.measured.get(&id).ok_or_else(|| {
                let known: Vec<&str> = paper.measured.keys().map(String::as_str).collect();
                format!("no claim `{id}`{}", strata_engine::config::did_you_mean(&id, known.iter().copied()))
            })?;
            let measurement = Measurement::new(paper, text)?;
            Ok((of_claim(&id, all.iter().find(|claim| claim.id == id), measurement.kind()), measurement))
        };
        Ok(Claims(ids.into_iter().map(claim).collect::<Result<_, String>>()?))
    }
}

/// Ids of the claims that stand for a paper.
fn headline(paper: &Paper, all: &[Claim]) -> Vec<String> {
    let measured = || all.iter().filter(|claim| paper.measured.contains_key(&claim.id));
    let of_abstract: Vec<String> =
        measured().filter(|claim| claim.r#where == "abstract").map(|claim| claim.id.clone()).collect();
    if !of_abstract.is_empty() {
        return of_abstract;
    }
    let first: Vec<String> = measured().take(FIRST).map(|claim| claim.id.clone()).collect();
    if first.is_empty() { paper.measured.keys().take(FIRST).cloned().collect() } else { first }
}

/// How values of a claim are written.
fn of_claim(id: &str, claim: Option<&Claim>, kind: Kind) -> Number {
    let unit = match (kind, claim.map(|claim| claim.unit.as_str())) {
        (Kind::Points, _) => " points".to_owned(),
        (Kind::Change, _) | (_, Some("percent")) => " %".to_owned(),
        (Kind::Ratio, _) | (_, Some("ratio")) => " x".to_owned(),
        (_, None | Some("share" | "count")) => String::new(),
        (_, Some(unit)) => format!(" {unit}"),
    };
    let signed = matches!(kind, Kind::Change | Kind::Points);
    Number { id: id.to_owned(), signed, unit, published: claim.map(Claim::published_text) }
}

impl Asked for Claims<'_> {
    fn numbers(&self) -> Vec<Number> {
        self.0.iter().map(|(number, _)| number.clone()).collect()
    }

    fn machines(&self) -> Vec<Variant> {
        self.0.iter().flat_map(|(_, measurement)| measurement.machines()).collect()
    }

    fn chooses(&self) -> bool {
        self.0.iter().any(|(_, measurement)| measurement.chooses())
    }

    fn jobs(&self, make: Make<'_>, answers: &mut Answers<'_>) -> Result<Vec<Job>, String> {
        let mut jobs = Vec::new();
        for (_, measurement) in &self.0 {
            for wanted in measurement.on(make).jobs() {
                if wanted.is_needed(answers) {
                    // A workload without this size is one that the number lacks.
                    jobs.extend(answers.job(wanted.kind, wanted.workload, &wanted.variant));
                }
            }
        }
        Ok(jobs)
    }

    fn values(&self, make: Make<'_>, answers: &mut Answers<'_>) -> Vec<Cell> {
        self.0.iter().map(|(_, measurement)| measurement.on(make).value(answers)).collect()
    }
}

/// Of a comparison with one machine every metric of every program; with several, every metric of each over the base's, as the mean
/// over the programs too if there are several.
impl Asked for (&Comparison, &Impossible) {
    fn numbers(&self) -> Vec<Number> {
        let (comparison, _) = self;
        let mut numbers = Vec::new();
        let number = |id: String| Number { id, signed: false, unit: String::new(), published: None };
        for metric in &comparison.metrics {
            for (place, variant) in others(self) {
                let over = over(self, place);
                let unit = if metric.unit.is_empty() { String::new() } else { format!(" ({})", metric.unit) };
                let what = match over {
                    None => format!("{}{unit} on {}", metric.title, variant.name),
                    Some(over) => format!("{}, {} over {}", metric.title, variant.name, over.name),
                };
                numbers
                    .extend(comparison.workloads.iter().map(|program| number(format!("{program}: {what}"))));
                if over.is_some() && comparison.workloads.len() > 1 {
                    numbers.push(number(format!("{}: {what}", Mean::Geometric.title())));
                }
            }
        }
        numbers
    }

    fn machines(&self) -> Vec<Variant> {
        let (comparison, impossible) = self;
        let possible = |place: &usize| impossible.reason(*place).is_none();
        (0..comparison.variants.len())
            .filter(possible)
            .map(|place| comparison.variants[place].clone())
            .collect()
    }

    fn chooses(&self) -> bool {
        false
    }

    fn jobs(&self, make: Make<'_>, answers: &mut Answers<'_>) -> Result<Vec<Job>, String> {
        let (comparison, impossible) = self;
        let kinds = comparison.kinds();
        let points = comparison.points(impossible);
        let of = points.flat_map(|(workload, variant)| {
            let variant = make(variant);
            kinds.iter().map(move |kind| (*kind, workload, variant.clone()))
        });
        let of: Vec<_> = of.collect();
        of.iter().map(|(kind, workload, variant)| answers.job(*kind, workload, variant)).collect()
    }

    fn values(&self, make: Make<'_>, answers: &mut Answers<'_>) -> Vec<Cell> {
        let (comparison, _) = self;
        let mut values = Vec::new();
        for metric in &comparison.metrics {
            for (place, variant) in others(self) {
                let variant = make(variant);
                let over = over(self, place).map(make);
                let mut of = |workload: &String| {
                    let value = answers.value(metric, workload, &variant);
                    match &over {
                        None => value,
                        Some(over) => divide(value, &answers.value(metric, workload, over)),
                    }
                };
                let cells: Vec<Cell> = comparison.workloads.iter().map(&mut of).collect();
                let mean = (over.is_some() && cells.len() > 1).then(|| {
                    let numbers: Result<Vec<f64>, String> = cells.iter().cloned().collect();
                    numbers.and_then(|numbers| Mean::Geometric.of(&numbers))
                });
                values.extend(cells.into_iter().chain(mean));
            }
        }
        values
    }
}

/// The variants that a comparison shows numbers of: all but those that are their own base, or the only one.
fn others<'a>(
    (comparison, impossible): &(&'a Comparison, &'a Impossible),
) -> impl Iterator<Item = (usize, &'a Variant)> {
    let alone = comparison.variants.len() == 1;
    comparison
        .variants
        .iter()
        .enumerate()
        .filter(move |(place, _)| impossible.reason(*place).is_none())
        .filter(move |(place, _)| alone || comparison.base.of(&comparison.axes, *place) != *place)
}

/// What a variant's numbers are over.
fn over<'a>((comparison, _): &(&'a Comparison, &'a Impossible), place: usize) -> Option<&'a Variant> {
    let base = comparison.base.of(&comparison.axes, place);
    (comparison.variants.len() > 1).then(|| &comparison.variants[base])
}
