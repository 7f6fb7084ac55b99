//! Metrics: the numbers that figures show of a run.

mod expression;
mod known;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use strata_engine::config::{self, did_you_mean};

pub use expression::Expression;
pub use known::Known;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Cycles and counters of a run on a machine.
    Timing,
    /// What the program asks of memory, independent of the machine.
    Profile,
}

/// A number computed from a run's counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Name of the metric, as in `ipc`.
    pub name: String,
    /// Title that figures and tables show.
    pub title: String,
    /// Unit; empty for a ratio.
    pub unit: String,
    /// Expression over the run's counters.
    pub expression: Expression,
    /// The kind of measurement that has those counters.
    pub kind: Kind,
}

/// A metric as written in a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricText {
    title: String,
    #[serde(default)]
    unit: String,
    expression: String,
    #[serde(default = "timing")]
    kind: Kind,
}

fn timing() -> Kind {
    Kind::Timing
}

/// Metrics, keyed by name.
pub type Metrics = BTreeMap<String, Metric>;

/// Builds metrics from a file's table; `file` appears in errors. An expression may name other metrics of the table.
///
/// # Errors
/// An expression that cannot be parsed, or that names itself.
pub fn read(file: &str, texts: BTreeMap<String, MetricText>) -> Result<Metrics, String> {
    let mut metrics = Metrics::new();
    for name in texts.keys() {
        resolve(name, &texts, &mut metrics, &mut Vec::new())
            .map_err(|error| format!("{file}: metrics.{name}: {error}"))?;
    }
    Ok(metrics)
}

/// Adds a metric to `metrics`, after those that it names; `within` are those that name it.
fn resolve(
    name: &str,
    texts: &BTreeMap<String, MetricText>,
    metrics: &mut Metrics,
    within: &mut Vec<String>,
) -> Result<Metric, String> {
    if let Some(metric) = metrics.get(name) {
        return Ok(metric.clone());
    }
    let Some(text) = texts.get(name) else {
        let alike = did_you_mean(name, texts.keys().map(String::as_str));
        return Err(format!("found `{name}`{alike}, expected group.counter or a metric of this file"));
    };
    if within.iter().any(|outer| outer == name) {
        return Err(format!("`{name}` is computed from itself"));
    }
    within.push(name.to_owned());
    let mut find = |inner: &str| match resolve(inner, texts, metrics, within)? {
        Metric { kind, expression, .. } if kind == text.kind => Ok(expression),
        _ => Err(format!("`{name}` and `{inner}` are not measured together, expected one `kind`")),
    };
    let expression = Expression::parse_with(&text.expression, &mut find)?;
    within.pop();
    let MetricText { title, unit, kind, .. } = text.clone();
    let metric = Metric { name: name.to_owned(), title, unit, expression, kind };
    metrics.insert(name.to_owned(), metric.clone());
    Ok(metric)
}

/// The built-in metrics, available without a paper.
///
/// # Panics
/// If the built-in file is invalid.
#[must_use]
pub fn common() -> Metrics {
    const FILE: &str = "data/metrics.toml";
    let texts = config::parse(Path::new(FILE), include_str!("../../data/metrics.toml"));
    texts
        .map_err(|error| error.to_string())
        .and_then(|texts| read(FILE, texts))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Finds a metric by name, or parses `name` as an expression.
///
/// # Errors
/// If it is neither; the message lists the known metrics.
pub fn find(metrics: &Metrics, name: &str) -> Result<Metric, String> {
    if let Some(metric) = metrics.get(name) {
        return Ok(metric.clone());
    }
    if !name.contains('.') {
        let known: Vec<&str> = metrics.keys().map(String::as_str).collect();
        let alike = did_you_mean(name, known.iter().copied());
        return Err(format!(
            "no metric `{name}`{alike}, expected one of {} or an expression over counters such as `l1d.fills / l1d.loads`",
            known.join(", ")
        ));
    }
    let expression = Expression::parse(name)?;
    let (name, title) = (name.to_owned(), name.to_owned());
    Ok(Metric { name, title, unit: String::new(), expression, kind: Kind::Timing })
}
