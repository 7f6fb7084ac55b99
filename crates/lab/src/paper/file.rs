//! A paper's file as written.

use std::collections::BTreeMap;

use serde::Deserialize;
use strata_workloads::Size;

use super::definition::{Bound, Definition, Drawing, Kind, Reduce};
use crate::grid::Mean;
use crate::metric::MetricText;
use crate::setup::assignment;

fn sizes() -> Vec<Size> {
    vec![Size::Small, Size::Paper]
}

/// The whole file of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PaperText {
    pub name: String,
    pub title: String,
    pub machine: String,
    pub mean: Mean,
    #[serde(default = "sizes")]
    pub sizes: Vec<Size>,
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
    #[serde(default)]
    pub statements: Vec<StatementText>,
}

/// What stands for one of the paper's systems: one machine, or for each workload the best of several or of a key's values.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemText {
    /// The machine; `None` for the paper's.
    pub machine: Option<String>,
    /// The system to lay over the machine; `None` for the machine without a system.
    pub system: Option<String>,
    /// Overrides, each as `door.key=value`.
    #[serde(default)]
    pub sets: Vec<String>,
    /// The version of the workloads that run on it.
    pub version: Option<String>,
    /// Names of the paper's systems to choose from, instead of `system` and `sets`.
    #[serde(default)]
    pub best_of: Vec<String>,
    /// A key whose values are all tried, with `system` and `sets`.
    pub search: Option<SearchText>,
    /// Name of a system with a search over as many values: that of the n-th is chosen where that system's is the n-th.
    #[serde(rename = "as")]
    pub follows: Option<String>,
    /// Name of the metric of which the chosen system, or that with the chosen value, has the least. Of equals, the first is
    /// chosen.
    pub least: Option<String>,
}

/// What is tried, where the best differs from workload to workload: a key's values, or overrides.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum SearchText {
    /// The values of one key.
    Values(ValuesText),
    /// Overrides that go together, as `["gpu.sms=8", "clocks.core_mhz=900"]`.
    Sets(Vec<Vec<String>>),
}

/// A key of the machine, and its values to try.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValuesText {
    /// The key, as `gpu.sms`.
    pub key: String,
    /// The values to try.
    pub values: Vec<toml::Value>,
}

impl SearchText {
    /// The overrides of each machine that is tried.
    pub fn sets(&self) -> Vec<Vec<String>> {
        match self {
            SearchText::Values(text) => {
                text.values.iter().map(|value| vec![assignment(&text.key, value)]).collect()
            }
            SearchText::Sets(sets) => sets.clone(),
        }
    }
}

/// A figure with a group of bars for each workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureText {
    /// Number of the figure, as in `7b`.
    pub id: String,
    /// Title of the figure.
    pub title: String,
    /// How the figure is drawn.
    pub drawing: Drawing,
    /// One metric, or the parts of a stack from bottom to top.
    pub metrics: Vec<String>,
    /// Systems, in the paper's order.
    pub systems: Vec<String>,
    /// Name of a set of workloads.
    #[serde(default = "all")]
    pub workloads: String,
    /// The machine, if not the paper's.
    pub machine: Option<String>,
    /// What each workload's numbers are divided by.
    pub normalise: Option<Normalise>,
    /// Ids of the claims that the figure shows.
    #[serde(default)]
    pub claims: Vec<String>,
    /// A note for readers of the figure.
    #[serde(default)]
    pub note: String,
    /// Whether the paper's page in the documentation has its numbers as a table.
    #[serde(default)]
    pub as_table: bool,
}

fn all() -> String {
    "all".into()
}

/// The divisor of the numbers of a figure or its bars.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normalise {
    /// The system whose number divides.
    pub system: String,
    /// The metric that divides. Default: the figure's only metric, or the one measured.
    pub metric: Option<String>,
}

/// A table with a row for each workload, setting published numbers, where there are some, beside measured ones.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableText {
    /// Number of the table, as in `III`.
    pub id: String,
    /// Title of the table.
    pub title: String,
    /// Name of a set of workloads.
    #[serde(default = "all")]
    pub workloads: String,
    /// Columns of the table, by title.
    pub columns: BTreeMap<String, ColumnText>,
}

impl TableText {
    /// How the claims of its columns are measured, by id.
    pub(super) fn measured(&self) -> impl Iterator<Item = (String, MeasurementText)> {
        self.columns.values().flat_map(|column| {
            column.ids().map(|(id, workload)| {
                let also = column.also.clone();
                (id, MeasurementText::level(&column.metric, &column.system, workload, also))
            })
        })
    }

    /// Ids of the claims of its columns.
    pub(crate) fn claims(&self) -> impl Iterator<Item = String> {
        self.columns.values().flat_map(|column| column.ids().map(|(id, _)| id))
    }
}

/// A column of a table with a row for each workload, whose numbers are levels.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnText {
    /// Name of the metric that is measured.
    pub metric: String,
    /// The system that is measured.
    pub system: String,
    /// Prefix of the ids of the claims that the column makes, one for each workload: prefix, dot, workload.
    pub claims: Option<String>,
    /// Other readings of these claims.
    #[serde(default)]
    pub also: Vec<ReadingText>,
    /// The published numbers, by workload: of all, or of none.
    #[serde(default)]
    pub published: BTreeMap<String, f64>,
}

impl ColumnText {
    /// Whether the paper publishes its numbers.
    pub(crate) fn has_published(&self) -> bool {
        !self.published.is_empty()
    }

    /// The claims that it makes: id and workload.
    fn ids(&self) -> impl Iterator<Item = (String, &str)> {
        let of = |workload: &'_ String, prefix: &String| format!("{prefix}.{workload}");
        let prefix = self.claims.as_ref();
        self.published.keys().filter_map(move |workload| Some((of(workload, prefix?), workload.as_str())))
    }
}

/// A table with a row for each number; the numbers do not depend on the workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListText {
    /// Number of the table, as in `III`.
    pub id: String,
    /// Title of the table.
    pub title: String,
    /// The workload whose run supplies the numbers; any workload will do.
    pub workload: String,
    /// Ids of the claims that the table shows.
    #[serde(default)]
    pub claims: Vec<String>,
    /// Rows of the table.
    pub rows: Vec<RowText>,
}

/// A row of a table with a row for each number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowText {
    /// Name of the number.
    pub name: String,
    /// The system that is measured.
    pub system: String,
    /// An expression over counters.
    pub expression: String,
    /// The number as the paper gives it.
    pub published: f64,
}

/// How a claim is measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasurementText {
    /// The kind of number that the claim states.
    pub kind: Kind,
    /// Whether and how the published number bounds the measured one.
    pub bound: Option<Bound>,
    /// How two systems are compared. Default: the mean of ratios, or points for [`Kind::Points`].
    pub definition: Option<Definition>,
    /// The metric of each workload.
    pub metric: String,
    /// The system that is measured.
    pub system: Option<String>,
    /// Several systems, whose numbers are combined in one mean.
    #[serde(default)]
    pub systems: Vec<String>,
    /// The system whose number divides each workload's.
    pub over: Option<String>,
    /// The metric of the dividing system. Default: the same metric.
    pub over_metric: Option<String>,
    /// Set if both systems are read off a figure's bars: what the bars are normalised to, for each workload.
    /// The number is then the quotient of the two mean bars rather than the mean of quotients, which a single
    /// bar near 0 would dominate.
    pub bars: Option<Normalise>,
    /// Factor applied to each workload's number; 100 turns a quotient into percent.
    #[serde(default = "one")]
    pub scale: f64,
    /// Leaves out workloads for which the metric divides by zero, a counter of it is infinite, or what it is over is 0.
    #[serde(default)]
    pub where_defined: bool,
    /// How the workloads' numbers are reduced to one. Default: the paper's mean.
    pub reduce: Option<Reduce>,
    /// Name of a set of workloads.
    #[serde(default = "all")]
    pub workloads: String,
    /// The machine, if not the paper's.
    pub machine: Option<String>,
    /// For [`Kind::Choice`]: the systems to choose from, each with a number. The number of the system with
    /// the greatest mean is the measured one.
    #[serde(default)]
    pub best_of: Vec<(String, f64)>,
    /// Other readings of the claim, measured and judged beside the first.
    #[serde(default)]
    pub also: Vec<ReadingText>,
    /// Why the number is none of its own: from which of the paper's numbers it follows, or that the model was given it. It is shown,
    /// and not judged.
    pub implied: Option<String>,
}

impl MeasurementText {
    /// A level on one system.
    pub(super) fn level(metric: &str, system: &str, workloads: &str, also: Vec<ReadingText>) -> Self {
        MeasurementText {
            kind: Kind::Level,
            bound: None,
            definition: None,
            metric: metric.to_owned(),
            system: Some(system.to_owned()),
            systems: vec![],
            over: None,
            over_metric: None,
            bars: None,
            scale: one(),
            where_defined: false,
            reduce: None,
            workloads: workloads.to_owned(),
            machine: None,
            best_of: vec![],
            also,
            implied: None,
        }
    }
}

/// Another reading of a claim: only what differs from the first.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadingText {
    /// Name that readers see.
    pub name: String,
    /// The kind of number, if different.
    pub kind: Option<Kind>,
    /// The metric, if different.
    pub metric: Option<String>,
    /// How two systems are compared, if different.
    pub definition: Option<Definition>,
    /// How the workloads' numbers are reduced to one, if different.
    pub reduce: Option<Reduce>,
    /// The set of workloads, if different.
    pub workloads: Option<String>,
    /// The system, if different.
    pub system: Option<String>,
    /// The system to compare with, if different.
    pub over: Option<String>,
}

impl MeasurementText {
    /// Whether a reading leaves alone what the claim itself says: over which workloads its number is, and how it is taken from
    /// theirs.
    #[must_use]
    pub fn admits(&self, reading: &ReadingText) -> bool {
        let says = |is: bool, replaced: bool| is && replaced;
        let is_mean = matches!(self.kind, Kind::Change | Kind::Ratio) && self.bars.is_none();
        !says(self.workloads != all(), reading.workloads.is_some())
            && !says(
                self.reduce.is_some() || !is_mean,
                reading.reduce.is_some() || reading.definition.is_some(),
            )
    }

    /// The measurement under another reading.
    #[must_use]
    pub fn read_as(&self, reading: &ReadingText) -> MeasurementText {
        let ReadingText { name: _, kind, metric, definition, reduce, workloads, system, over } =
            reading.clone();
        MeasurementText {
            kind: kind.unwrap_or(self.kind),
            definition: definition.or(self.definition),
            metric: metric.unwrap_or_else(|| self.metric.clone()),
            reduce: reduce.or(self.reduce),
            workloads: workloads.unwrap_or_else(|| self.workloads.clone()),
            system: system.or_else(|| self.system.clone()),
            over: over.or_else(|| self.over.clone()),
            also: vec![],
            ..self.clone()
        }
    }
}

/// A choice that the paper leaves open, and the claims to measure under each value.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensitivityText {
    /// Identifier of the choice.
    pub id: String,
    /// What is chosen, for readers.
    pub title: String,
    /// What the paper says about it, and why the default was chosen.
    pub source: String,
    /// Ids of the claims to measure; `fuse.fig13.*` names all that begin so.
    pub claims: Vec<String>,
    /// Keys that are set to the value, by system. Systems not named here keep their values.
    #[serde(default)]
    pub keys: BTreeMap<String, Vec<String>>,
    /// The values to try; the one that the systems already have is among them, unless `chosen` names it. An array has a value for each key, by its place
    /// in the system's list; the first names the choice.
    #[serde(default)]
    pub values: Vec<toml::Value>,
    /// What readers see of each value instead of the value itself, in their order.
    #[serde(default)]
    pub labels: Vec<String>,
    /// For choices of a reading rather than of a value, and for keys that the systems leave out: what readers see of the default.
    pub chosen: Option<String>,
    /// The other readings of the claims.
    #[serde(default)]
    pub readings: Vec<ReadingText>,
    /// Workloads that the paper does not name: the least and the greatest number over all choices of them.
    pub any: Option<AnyText>,
}

/// Some workloads that are known, and any so many of others.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnyText {
    /// How many others.
    pub count: usize,
    /// Name of the set of the others.
    pub of: String,
    /// Name of the set of those that are known.
    pub beside: String,
}

/// What the text says of programs that it names: a number of each lies above or below another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementText {
    /// The sentence, in our words.
    pub says: String,
    /// Where it stands; what it leaves open, and how it was read.
    pub source: String,
    /// Name of the set of the programs.
    pub programs: String,
    /// The metric of each program.
    pub metric: String,
    /// The system that is measured.
    pub system: String,
    /// The system whose number divides it.
    pub over: Option<String>,
    /// What the number is above,
    pub above: Option<LimitText>,
    /// or below.
    pub below: Option<LimitText>,
    /// Name of the set whose programs, except those named, are the others.
    #[serde(default = "all")]
    pub others: String,
}

/// What a number is above or below.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum LimitText {
    /// A number.
    Number(f64),
    /// A word.
    Word(LimitWord),
}

/// What a number is above or below, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitWord {
    /// The mean of the programs that the sentence does not name.
    Others,
}

impl LimitText {
    /// The mean of the programs that the sentence does not name.
    pub const OTHERS: LimitText = LimitText::Word(LimitWord::Others);
}

fn one() -> f64 {
    1.0
}
