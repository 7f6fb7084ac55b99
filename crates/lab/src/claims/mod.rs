//! Published numbers beside measured ones: `data/claims.csv`, with a computed verdict for each row.

mod any_of;
mod explanation;
mod measurement;
pub mod sensitivity;
pub mod statement;
mod verdict;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Deserialize;
use strata_workloads::Size;

pub use explanation::{Explanation, Template};
pub use measurement::{Measurement, Outcome};
pub use verdict::{Verdict, effect, judge, judge_choice};

use crate::origin::Origin;
use crate::paper::{Kind, Paper};
use crate::question::Answers;
use crate::report::number;
use crate::store::Store;

/// A published number: one row of `data/claims.csv`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Identifier: paper, figure and subject.
    pub id: String,
    /// Name of the paper.
    pub paper: String,
    /// Figure or section of the paper.
    pub r#where: String,
    /// The system that the claim is about.
    pub subject: String,
    /// What the subject is compared with; `-` for nothing.
    pub baseline: String,
    /// The quantity that is compared.
    pub metric: String,
    /// The workloads that the claim covers.
    pub scope: String,
    /// The number as printed in the paper; a leading sign makes it a change.
    pub published: String,
    /// Unit of the number.
    pub unit: String,
    /// Anything else the paper says about the number, such as "at least".
    pub note: String,
}

impl Claim {
    /// The published number.
    ///
    /// # Errors
    /// If the text is not a number.
    pub fn value(&self) -> Result<f64, String> {
        let number = self.published.parse();
        number.map_err(|_| {
            format!("claim `{}`: published: found `{}`, expected a number", self.id, self.published)
        })
    }

    /// Describes the comparison: subject, baseline, metric and scope.
    #[must_use]
    pub fn comparison(&self) -> String {
        let over = if self.baseline == "-" { String::new() } else { format!(" over {}", self.baseline) };
        format!("{}{over}: {}, {}", self.subject, self.metric, self.scope)
    }

    /// The published number with its unit and, if it is a bound, which kind.
    #[must_use]
    pub fn published_text(&self) -> String {
        let number = self.with_unit(&self.published);
        match self.note.as_str() {
            bound @ ("at least" | "up to") => format!("{number} ({bound})"),
            _ => number,
        }
    }

    /// Formats a measured number in the style of the published one; a change has a sign.
    #[must_use]
    pub fn measured_text(&self, kind: Kind, measured: f64) -> String {
        let is_change = matches!(kind, Kind::Change | Kind::Points);
        let sign = if is_change && measured > 0.0 { "+" } else { "" };
        let number = format!("{sign}{}", number(measured));
        if kind == Kind::Points { format!("{number} points") } else { self.with_unit(&number) }
    }

    /// Formats a number of the claim's own kind. It is a change if the published number has a sign.
    #[must_use]
    pub fn with_sign(&self, value: f64) -> String {
        let signed = self.published.starts_with(['+', '-']);
        self.measured_text(if signed { Kind::Change } else { Kind::Level }, value)
    }

    fn with_unit(&self, number: &str) -> String {
        match self.unit.as_str() {
            "percent" => format!("{number} %"),
            "ratio" => format!("{number} x"),
            "share" | "count" => number.to_owned(),
            unit => format!("{number} {unit}"),
        }
    }
}

/// Every published number, in the order of the file.
///
/// # Panics
/// If the built-in file is invalid.
#[must_use]
pub fn all() -> Vec<Claim> {
    let mut reader = csv::Reader::from_reader(include_str!("../../data/claims.csv").as_bytes());
    reader.deserialize().collect::<Result<_, _>>().unwrap_or_else(|error| panic!("data/claims.csv: {error}"))
}

/// The explanation templates, by claim id.
///
/// # Panics
/// If the built-in file is invalid.
#[must_use]
pub fn explanations() -> BTreeMap<String, String> {
    toml::from_str(include_str!("../../data/explanations.toml"))
        .unwrap_or_else(|error| panic!("data/explanations.toml: {error}"))
}

/// A claim, its measured number and the verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The claim, as published.
    pub claim: Claim,
    /// Size of the workloads measured.
    pub size: Size,
    /// The measured number, or why there is none.
    pub measured: Result<Measured, String>,
    /// How the measured number compares with the published one.
    pub verdict: Verdict,
    /// Why the number is as it is, if an explanation was written.
    pub explanation: Option<Explanation>,
    /// The runs behind the measurement, its readings and its explanation, as far as they are of this size.
    pub origin: Origin,
}

/// A measured number and how it was computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The measured number, in the claim's unit.
    pub value: f64,
    /// The kind of number.
    pub kind: Kind,
    /// How the number is computed from those of the workloads.
    pub definition: String,
    /// The number under other readings of the claim.
    pub readings: Vec<Reading>,
}

/// An alternative reading of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Name of the reading, for readers.
    pub name: String,
    /// The kind of number.
    pub kind: Kind,
    /// The number, or why there is none.
    pub value: Result<f64, String>,
    /// How the number compares with the published one.
    pub verdict: Verdict,
}

impl Row {
    /// What published and measured number leave, in percent, where the published one leaves less than half.
    #[must_use]
    pub fn left(&self) -> Option<(f64, f64)> {
        let measured = self.measured.as_ref().ok()?;
        let scale = if measured.kind == Kind::Ratio { 100.0 } else { 1.0 };
        let published = scale * verdict::left(measured.kind, self.claim.value().ok()?)?;
        let ours = scale * verdict::left(measured.kind, measured.value)?;
        (published < 50.0).then_some((published, ours))
    }

    /// What is wrong with the row: the claim is not reproduced and has no explanation, or the explanation
    /// does not fit the runs.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let id = &self.claim.id;
        match (&self.measured, &self.explanation) {
            (Err(_), _) => vec![],
            (Ok(_), None) if self.verdict == Verdict::Reproduced => vec![],
            (Ok(_), None) => {
                vec![format!("{id}: {} at size {}, and no explanation", self.verdict, self.size)]
            }
            (Ok(_), Some(explanation)) => {
                explanation.problems.iter().map(|problem| format!("{id}: explanation: {problem}")).collect()
            }
        }
    }
}

/// Checks that everything a paper's file says about claims can be measured: names exist, and numbers have
/// sources.
///
/// # Errors
/// The first problem found.
pub fn check(paper: &Paper) -> Result<(), String> {
    for (id, text) in &paper.measured {
        let of = |error: String| format!("{}: measured.\"{id}\": {error}", paper.file);
        let measurement = Measurement::new(paper, text).map_err(of)?;
        for reading in measurement.readings() {
            Measurement::new(paper, &text.read_as(&reading)).map_err(of)?;
        }
    }
    for text in &paper.sensitivities {
        sensitivity::jobs(paper, text)
            .map_err(|error| format!("{}: sensitivity {}: {error}", paper.file, text.id))?;
    }
    for text in &paper.statements {
        statement::jobs(paper, text)
            .map_err(|error| format!("{}: statement `{}`: {error}", paper.file, text.says))?;
    }
    templates(paper).map(drop)
}

/// The explanation templates of a paper's claims, by the id of a claim or of a table's column.
///
/// # Errors
/// A template that cannot be parsed.
pub fn templates(paper: &Paper) -> Result<BTreeMap<String, Template<'_>>, String> {
    let claims = all();
    let is_of_paper = |id: &String| {
        let of_paper = claims.iter().filter(|claim| claim.paper == paper.name);
        of_paper.map(|claim| claim.id.as_str()).any(|of| of == id || paper.column_of(of) == Some(id))
    };
    let of_paper = explanations().into_iter().filter(|(id, _)| is_of_paper(id));
    of_paper
        .map(|(id, text)| {
            let template = Template::parse(paper, &text)
                .map_err(|error| format!("data/explanations.toml: \"{id}\": {error}"))?;
            Ok((id, template))
        })
        .collect()
}

/// The template of a claim: its own, or that of the table's column that it is in.
pub(crate) fn template<'t, 'a>(
    paper: &Paper,
    templates: &'t BTreeMap<String, Template<'a>>,
    id: &str,
) -> Option<&'t Template<'a>> {
    templates.get(id).or_else(|| templates.get(paper.column_of(id)?))
}

/// The claims of some papers, each with its verdict computed from a store.
///
/// # Errors
/// A claim that is not a number, or a paper whose data is wrong.
pub fn rows(papers: &[&str], store: &Store, size: Size) -> Result<Vec<Row>, String> {
    let smaller = Size::ALL.into_iter().rev().filter(|other| *other < size);
    let sizes = std::iter::once(size).chain(smaller);
    let mut answers: Vec<Answers<'_>> = sizes.map(|size| Answers::new(store, size)).collect();
    let loaded: Vec<Paper> = crate::paper::names().into_iter().map(Paper::load).collect::<Result<_, _>>()?;
    let mut known = BTreeMap::new();
    for paper in &loaded {
        known.insert(paper.name.as_str(), (paper, templates(paper)?));
    }
    let mut rows = Vec::new();
    for claim in all().into_iter().filter(|claim| papers.is_empty() || papers.contains(&claim.paper.as_str()))
    {
        // A claim's paper need not be a built-in one.
        let paper = known.get(claim.paper.as_str());
        rows.push(row(claim, paper, &mut answers)?);
    }
    Ok(rows)
}

/// One claim's row. The first of `answers` has the row's size.
fn row(
    claim: Claim,
    paper: Option<&(&Paper, BTreeMap<String, Template<'_>>)>,
    answers: &mut [Answers<'_>],
) -> Result<Row, String> {
    let size = answers[0].size();
    let published = claim.value()?;
    answers[0].take_origin();
    let found = paper.and_then(|(paper, templates)| {
        Some((*paper, paper.measured.get(&claim.id)?, template(paper, templates, &claim.id)))
    });
    let Some((paper, text, template)) = found else {
        let measured = Err("no measurement is defined for this claim".into());
        let verdict = Verdict::NotMeasured;
        return Ok(Row { claim, size, measured, verdict, explanation: None, origin: Origin::default() });
    };
    let measurement = Measurement::new(paper, text)?;
    let outcome = measurement.outcome(&mut answers[0], published);
    let (measured, verdict) = match outcome {
        Err(reason) => (Err(reason), Verdict::NotMeasured),
        Ok(outcome) => {
            let mut readings = Vec::new();
            for reading in measurement.readings() {
                let text = text.read_as(&reading);
                let outcome = Measurement::new(paper, &text)?.outcome(&mut answers[0], published);
                let verdict = outcome.as_ref().map_or(Verdict::NotMeasured, |outcome| outcome.verdict);
                let value = outcome.map(|outcome| outcome.value);
                readings.push(Reading { name: reading.name, kind: text.kind, value, verdict });
            }
            let (value, kind, definition) = (outcome.value, text.kind, measurement.definition());
            let verdict = if text.implied.is_some() { Verdict::Implied } else { outcome.verdict };
            (Ok(Measured { value, kind, definition, readings }), verdict)
        }
    };
    let implied = text.implied.as_ref().map(|why| Explanation { text: why.clone(), problems: vec![] });
    let explanation = match &measured {
        Ok(_) => implied.or_else(|| template.map(|template| template.fill(answers))),
        Err(_) => None,
    };
    let mut origin = answers[0].take_origin();
    // What an explanation takes from smaller sizes is of other runs, and maybe of other versions.
    answers[1..].iter_mut().for_each(|answers| origin.runs.extend(answers.take_origin().runs));
    Ok(Row { claim, size, measured, verdict, explanation, origin })
}

/// The papers that the claims are about, in the order of the file.
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
