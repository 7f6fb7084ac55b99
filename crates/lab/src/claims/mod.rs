//! Published numbers beside measured ones: `data/claims.csv`, and a verdict computed for each row.

mod explanation;
mod measurement;
pub mod sensitivity;
mod verdict;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use strata_workloads::Size;

pub use explanation::{Explanation, Template};
pub use measurement::{Measurement, Outcome};
pub use verdict::{Verdict, effect, judge, judge_choice};

use crate::paper::{Kind, Paper};
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
    pub fn measured_text(&self, kind: Kind, measured: f64) -> String {
        let is_change = matches!(kind, Kind::Change | Kind::Points);
        let sign = if is_change && measured > 0.0 { "+" } else { "" };
        let number = format!("{sign}{}", number(measured));
        if kind == Kind::Points { format!("{number} points") } else { self.with_unit(&number) }
    }

    /// A number of the claim's own kind; a published sign makes it a change.
    #[must_use]
    pub fn with_sign(&self, value: f64) -> String {
        let signed = self.published.starts_with(['+', '-']);
        self.measured_text(if signed { Kind::Change } else { Kind::Level }, value)
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

/// The templates of the explanations, by claim.
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
    /// What was measured, or why nothing was.
    pub measured: Result<Measured, String>,
    /// What that says.
    pub verdict: Verdict,
    /// Why it is what it is.
    pub explanation: Option<Explanation>,
    /// The versions of the simulator that it was measured with.
    pub versions: BTreeSet<String>,
}

/// A measured number.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The number in the claim's unit.
    pub value: f64,
    /// What kind of number it is.
    pub kind: Kind,
    /// How it is made of those of the workloads.
    pub definition: String,
    /// What the claim comes to when it is read in other ways.
    pub readings: Vec<Reading>,
}

/// A claim read in another way than the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// What a reader calls it.
    pub name: String,
    /// What kind of number it is.
    pub kind: Kind,
    /// The number, or why there is none.
    pub value: Result<f64, String>,
    /// What that says of the published one.
    pub verdict: Verdict,
}

impl Row {
    /// What is wrong with it: nobody says why it is not reproduced, or what they say does not fit the runs.
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

/// Finds what a paper's file says of claims and cannot be measured: names that nothing bears, numbers without a source.
///
/// # Errors
/// The first of these.
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
    templates(paper).map(drop)
}

/// The explanations of a paper's claims.
///
/// # Errors
/// One that cannot be read.
pub fn templates(paper: &Paper) -> Result<BTreeMap<String, Template<'_>>, String> {
    let claims = all();
    let is_of_paper = |id: &String| claims.iter().any(|claim| claim.id == *id && claim.paper == paper.name);
    let of_paper = explanations().into_iter().filter(|(id, _)| is_of_paper(id));
    of_paper
        .map(|(id, text)| {
            let template = Template::parse(paper, &text)
                .map_err(|error| format!("data/explanations.toml: \"{id}\": {error}"))?;
            Ok((id, template))
        })
        .collect()
}

/// The claims of some papers, each with its verdict from what a store holds. Numbers of a paper's tables are not among
/// them.
///
/// # Errors
/// A claim that is no number, or a paper whose data is wrong.
pub fn rows(papers: &[&str], store: &Store, size: Size) -> Result<Vec<Row>, String> {
    let smaller = [Size::Paper, Size::Small, Size::Test].into_iter().filter(|other| *other < size);
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
        // The claim's paper need not be among those that come along.
        let paper = known.get(claim.paper.as_str());
        if paper.is_some_and(|(paper, _)| paper.tables_claim(&claim.id)) {
            continue;
        }
        rows.push(row(claim, paper, &mut answers)?);
    }
    Ok(rows)
}

/// One claim's row; the answers of its size come first.
fn row(
    claim: Claim,
    paper: Option<&(&Paper, BTreeMap<String, Template<'_>>)>,
    answers: &mut [Answers<'_>],
) -> Result<Row, String> {
    let size = answers[0].size();
    let published = claim.value()?;
    answers[0].take_versions();
    let found = paper.and_then(|(paper, templates)| {
        Some((*paper, paper.measured.get(&claim.id)?, templates.get(&claim.id)))
    });
    let Some((paper, text, template)) = found else {
        let measured = Err("no measurement of it is defined".into());
        let verdict = Verdict::NotMeasured;
        return Ok(Row { claim, size, measured, verdict, explanation: None, versions: BTreeSet::new() });
    };
    let measurement = Measurement::new(paper, text)?;
    let outcome = measurement.outcome(&mut answers[0], published);
    let versions = answers[0].take_versions();
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
            (Ok(Measured { value, kind, definition, readings }), outcome.verdict)
        }
    };
    let explanation = template.filter(|_| measured.is_ok()).map(|template| template.fill(answers));
    Ok(Row { claim, size, measured, verdict, explanation, versions })
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
