//! Published numbers beside measured ones: `data/claims.csv`, and a verdict computed for each row.

mod measurement;
mod verdict;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Deserialize;
use strata_workloads::Size;

pub use measurement::{Measurement, Reduce};
pub use verdict::{Bound, Kind, Verdict, judge};

use crate::paper::Paper;
use crate::question::Answers;
use crate::report::number;
use crate::store::Store;

/// A published number: a row of `data/claims.csv`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name: paper, figure, subject.
    pub id: String,
    /// The paper.
    pub paper: String,
    /// Figure or section.
    pub r#where: String,
    /// What it is about.
    pub subject: String,
    /// What that is compared with; `-` for nothing.
    pub baseline: String,
    /// What is compared.
    pub metric: String,
    /// Over which workloads.
    pub scope: String,
    /// The number as the paper has it; a sign makes it a change.
    pub published: String,
    /// Its unit.
    pub unit: String,
    /// What else the paper says.
    pub note: String,
}

impl Claim {
    /// The published number.
    ///
    /// # Errors
    /// When it is none.
    pub fn value(&self) -> Result<f64, String> {
        let number = self.published.parse();
        number.map_err(|_| {
            format!("claim `{}`: published: found `{}`, expected a number", self.id, self.published)
        })
    }

    /// Who is compared with whom, in which metric, over what.
    #[must_use]
    pub fn comparison(&self) -> String {
        let over = if self.baseline == "-" { String::new() } else { format!(" over {}", self.baseline) };
        format!("{}{over}: {}, {}", self.subject, self.metric, self.scope)
    }

    /// The published number with its unit, and whether it is a bound.
    #[must_use]
    pub fn published_text(&self) -> String {
        let number = self.with_unit(&self.published);
        match self.note.as_str() {
            bound @ ("at least" | "up to") => format!("{number} ({bound})"),
            _ => number,
        }
    }

    /// A measured number as the published one is written: a change has a sign.
    #[must_use]
    pub fn measured_text(&self, measured: f64) -> String {
        let is_change = self.published.starts_with(['+', '-']);
        let sign = if is_change && measured > 0.0 { "+" } else { "" };
        self.with_unit(&format!("{sign}{}", number(measured)))
    }

    fn with_unit(&self, number: &str) -> String {
        match self.unit.as_str() {
            "percent" => format!("{number} %"),
            "ratio" => format!("{number} x"),
            "share" => number.to_owned(),
            unit => format!("{number} {unit}"),
        }
    }
}

/// Every published number, in the file's order.
///
/// # Panics
/// When the file that comes along is none.
#[must_use]
pub fn all() -> Vec<Claim> {
    let mut reader = csv::Reader::from_reader(include_str!("../../data/claims.csv").as_bytes());
    reader.deserialize().collect::<Result<_, _>>().unwrap_or_else(|error| panic!("data/claims.csv: {error}"))
}

/// Why measured claims are not reproduced, by claim.
///
/// # Panics
/// When the file that comes along is none.
#[must_use]
pub fn explanations() -> BTreeMap<String, String> {
    toml::from_str(include_str!("../../data/explanations.toml"))
        .unwrap_or_else(|error| panic!("data/explanations.toml: {error}"))
}

/// A claim, what was measured, and what that says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The claim.
    pub claim: Claim,
    /// At which size.
    pub size: Size,
    /// What was measured in the claim's unit, if it was.
    pub measured: Option<f64>,
    /// What that says.
    pub verdict: Verdict,
    /// Why it was not measured, or not reproduced.
    pub explanation: Option<String>,
}

impl Row {
    /// Whether it was measured, is not reproduced, and nobody says why.
    #[must_use]
    pub fn lacks_explanation(&self) -> bool {
        matches!(self.verdict, Verdict::Direction | Verdict::Contradicted) && self.explanation.is_none()
    }
}

/// The claims of some papers, each with its verdict from what a store holds.
///
/// # Errors
/// A claim that is no number, or a paper whose data is wrong.
pub fn rows(papers: &[&str], store: &Store, size: Size) -> Result<Vec<Row>, String> {
    let explanations = explanations();
    let mut answers = Answers::new(store, size);
    let mut loaded: BTreeMap<&str, Paper> = BTreeMap::new();
    for name in crate::paper::names() {
        loaded.insert(name, Paper::load(name)?);
    }
    let claims =
        all().into_iter().filter(|claim| papers.is_empty() || papers.contains(&claim.paper.as_str()));
    claims.map(|claim| row(claim, &loaded, &explanations, &mut answers)).collect()
}

/// One claim's row. The claim's paper need not be among those that are loaded.
fn row(
    claim: Claim,
    papers: &BTreeMap<&str, Paper>,
    explanations: &BTreeMap<String, String>,
    answers: &mut Answers<'_>,
) -> Result<Row, String> {
    let size = answers.size();
    let published = claim.value()?;
    let measurement = papers.get(claim.paper.as_str()).and_then(|paper| {
        let text = paper.measured.get(&claim.id)?;
        Some(Measurement::new(paper, text))
    });
    let measured = match measurement.transpose()? {
        None => Err("no measurement of it is defined".to_owned()),
        Some(measurement) => {
            measurement.value(answers).map(|value| (measurement.text.kind, measurement.text.bound, value))
        }
    };
    Ok(match measured {
        Err(reason) => {
            Row { claim, size, measured: None, verdict: Verdict::NotMeasured, explanation: Some(reason) }
        }
        Ok((kind, bound, value)) => {
            let verdict = judge(kind, bound, published, value);
            let explanation = explanations.get(&claim.id).cloned();
            Row { claim, size, measured: Some(value), verdict, explanation }
        }
    })
}

/// The papers that the claims are about, in the file's order.
#[must_use]
pub fn papers() -> Vec<String> {
    let mut papers: Vec<String> = Vec::new();
    for claim in all() {
        if !papers.contains(&claim.paper) {
            papers.push(claim.paper);
        }
    }
    papers
}
