//! A paper's file as it stands.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::definition::{Bound, Definition, Drawing, Kind, Reduce};
use crate::grid::Mean;
use crate::metric::MetricText;

/// The whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PaperText {
    pub name: String,
    pub title: String,
    pub machine: String,
    pub mean: Mean,
    pub workloads: BTreeMap<String, Vec<String>>,
    pub systems: BTreeMap<String, SystemText>,
    #[serde(default)]
    pub metrics: BTreeMap<String, MetricText>,
    #[serde(default)]
    pub figures: Vec<FigureText>,
    #[serde(default)]
    pub tables: Vec<TableText>,
    #[serde(default)]
    pub lists: Vec<ListText>,
    #[serde(default)]
    pub measured: BTreeMap<String, MeasurementText>,
    #[serde(default)]
    pub sensitivities: Vec<SensitivityText>,
}

/// What the paper calls a system, and what it is here.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemText {
    /// A system to lay over the machine; absent when the machine is taken as it is.
    pub system: Option<String>,
    /// Overrides.
    #[serde(default)]
    pub sets: Vec<String>,
}

/// A figure with a group of bars a workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureText {
    /// Its number, as in `7b`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How.
    pub drawing: Drawing,
    /// One metric, or the parts of a stack from below.
    pub metrics: Vec<String>,
    /// Systems in the paper's order.
    pub systems: Vec<String>,
    /// A set of workloads.
    #[serde(default = "all")]
    pub workloads: String,
    /// A machine other than the paper's.
    pub machine: Option<String>,
    /// What each workload's numbers are divided by.
    pub normalise: Option<Normalise>,
    /// Ids of the claims that it shows.
    #[serde(default)]
    pub claims: Vec<String>,
    /// What a reader must know.
    #[serde(default)]
    pub note: String,
}

fn all() -> String {
    "all".into()
}

/// What the numbers of a figure, or of its bars, are divided by.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normalise {
    /// A system.
    pub system: String,
    /// A metric; the only one, or the one measured, where absent.
    pub metric: Option<String>,
}

/// A table with a row a workload, published beside measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableText {
    /// Its number.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// A set of workloads.
    #[serde(default = "all")]
    pub workloads: String,
    /// Its columns, by title.
    pub columns: BTreeMap<String, ColumnText>,
}

/// A column of such a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnText {
    /// What is measured.
    pub metric: String,
    /// On what.
    pub system: String,
    /// The claims that it shows: those whose id is this, a point and what the paper calls a workload. They have no verdicts.
    pub claims: Option<String>,
    /// What the paper says, by workload.
    pub published: BTreeMap<String, f64>,
}

/// A table with a row a number that no workload decides.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListText {
    /// Its number.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// The workload whose run is asked: any.
    pub workload: String,
    /// Ids of the claims that it shows.
    #[serde(default)]
    pub claims: Vec<String>,
    /// Its rows.
    pub rows: Vec<RowText>,
}

/// A row of such a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowText {
    /// What it is.
    pub name: String,
    /// Of what.
    pub system: String,
    /// An expression over counters.
    pub expression: String,
    /// What the paper says.
    pub published: f64,
}

/// How a claim is measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasurementText {
    /// What kind of number it is.
    pub kind: Kind,
    /// The published number bounds the measured one.
    pub bound: Option<Bound>,
    /// How two systems are compared; the mean of ratios where absent, points for [`Kind::Points`].
    pub definition: Option<Definition>,
    /// The metric of each workload.
    pub metric: String,
    /// Of which system.
    pub system: Option<String>,
    /// Of which systems, their numbers taken together in one mean.
    #[serde(default)]
    pub systems: Vec<String>,
    /// The system whose number divides each workload's.
    pub over: Option<String>,
    /// The metric of that system; the same where absent.
    pub over_metric: Option<String>,
    /// Both systems are read off a figure's bars: what its bars are normalised to, by workload. The number is then the
    /// quotient of the two mean bars, not the mean of quotients, which one near 0 would decide.
    pub bars: Option<Normalise>,
    /// Multiplies each workload's number: 100 makes percent of a quotient.
    #[serde(default = "one")]
    pub scale: f64,
    /// Leaves out workloads in which the metric divides by zero: they have no such number.
    #[serde(default)]
    pub where_defined: bool,
    /// How workloads become one number; the paper's mean where absent.
    pub reduce: Option<Reduce>,
    /// A set of workloads.
    #[serde(default = "all")]
    pub workloads: String,
    /// A machine other than the paper's.
    pub machine: Option<String>,
    /// Systems with a number each, for [`Kind::Choice`]: the number of the one whose mean is greatest is measured.
    #[serde(default)]
    pub best_of: Vec<(String, f64)>,
    /// Other ways to read the claim, measured and judged beside the first.
    #[serde(default)]
    pub also: Vec<ReadingText>,
}

/// Another way to read a claim: what differs from the first.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadingText {
    /// What a reader calls it.
    pub name: String,
    /// Another kind of number.
    pub kind: Option<Kind>,
    /// Another metric.
    pub metric: Option<String>,
    /// Another way to compare.
    pub definition: Option<Definition>,
    /// Another way to make one number of many.
    pub reduce: Option<Reduce>,
    /// Other workloads.
    pub workloads: Option<String>,
    /// Another system to compare with.
    pub over: Option<String>,
}

impl MeasurementText {
    /// The measurement read another way.
    #[must_use]
    pub fn read_as(&self, reading: &ReadingText) -> MeasurementText {
        let ReadingText { name: _, kind, metric, definition, reduce, workloads, over } = reading.clone();
        MeasurementText {
            kind: kind.unwrap_or(self.kind),
            definition: definition.or(self.definition),
            metric: metric.unwrap_or_else(|| self.metric.clone()),
            reduce: reduce.or(self.reduce),
            workloads: workloads.unwrap_or_else(|| self.workloads.clone()),
            over: over.or_else(|| self.over.clone()),
            also: vec![],
            ..self.clone()
        }
    }
}

/// A choice that the paper leaves open, and what some claims come to with each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensitivityText {
    /// Its name.
    pub id: String,
    /// What is chosen.
    pub title: String,
    /// What the paper says of it, and why we chose as we did.
    pub source: String,
    /// Ids of the claims that are measured with each.
    pub claims: Vec<String>,
    /// Keys that are set to the same value, by system. Systems that are not named stay as they are.
    #[serde(default)]
    pub keys: BTreeMap<String, Vec<String>>,
    /// The values; the one that the systems have is found among them.
    #[serde(default)]
    pub values: Vec<toml::Value>,
    /// What is measured in other ways, or on other workloads: what the first way is called.
    pub chosen: Option<String>,
    /// Those others.
    #[serde(default)]
    pub readings: Vec<ReadingText>,
}

fn one() -> f64 {
    1.0
}
