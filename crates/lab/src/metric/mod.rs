//! Metrics: the numbers that figures show of a run.

mod expression;
mod known;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use strata_engine::config::{self, did_you_mean};

pub use expression::Expression;
pub use known::Known;

use crate::job::Kind;

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

/// Builds metrics from a file's table; `file` appears in errors.
///
/// # Errors
/// An expression that cannot be parsed.
pub fn read(file: &str, texts: BTreeMap<String, MetricText>) -> Result<Metrics, String> {
    let metric = |(name, text): (String, MetricText)| {
        let expression = Expression::parse(&text.expression)
            .map_err(|error| format!("{file}: metrics.{name}: {error}"))?;
        let MetricText { title, unit, kind, .. } = text;
        Ok((name.clone(), Metric { name, title, unit, expression, kind }))
    };
    texts.into_iter().map(metric).collect()
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
