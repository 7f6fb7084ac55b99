//! What a paper's text says of programs by name, beside what was measured.

use crate::grid::divide;
use crate::metric::Metric;
use crate::origin::Origin;
use crate::paper::{FigureJob, LimitText, Paper, StatementText};
use crate::question::{Answers, Cell};
use crate::setup::Setup;

/// A sentence of the text, and what was measured of each program that it names.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What the text says, in our words.
    pub says: String,
    /// Where it says so.
    pub source: String,
    /// What was measured.
    pub what: String,
    /// Its unit.
    pub unit: String,
    /// What was measured of each program.
    pub programs: Vec<OfProgram>,
    /// The runs behind the numbers.
    pub origin: Origin,
}

/// What was measured of a program that a sentence names.
#[derive(Clone, Debug)]
pub struct OfProgram {
    /// Its name.
    pub program: String,
    /// The measured number.
    pub value: Cell,
    /// The number above or below which it has to be.
    pub limit: Cell,
    /// Whether it has to be above.
    pub above: bool,
}

impl OfProgram {
    /// Whether the measured number is as the sentence says; `None` if a number is missing.
    #[must_use]
    pub fn agrees(&self) -> Option<bool> {
        let (Ok(value), Ok(limit)) = (&self.value, &self.limit) else { return None };
        Some(if self.above { value > limit } else { value < limit })
    }

    /// The verdict, for readers.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match self.agrees() {
            Some(true) => "agrees",
            Some(false) => "disagrees",
            None => "not measured",
        }
    }
}

/// A sentence with all names resolved.
struct Resolved<'a> {
    metric: &'a Metric,
    system: Setup,
    over: Option<Setup>,
    programs: &'a [String],
    others: Vec<&'a String>,
    limit: LimitText,
    above: bool,
}

impl<'a> Resolved<'a> {
    fn new(paper: &'a Paper, text: &StatementText) -> Result<Resolved<'a>, String> {
        let (limit, above) = match (text.above, text.below) {
            (Some(limit), None) => (limit, true),
            (None, Some(limit)) => (limit, false),
            _ => return Err("expected one of `above` and `below`".into()),
        };
        let programs = paper.workloads(&text.programs)?;
        let others = paper.workloads(&text.others)?.iter().filter(|name| !programs.contains(name));
        let others: Vec<&String> = if limit == LimitText::OTHERS { others.collect() } else { vec![] };
        if limit == LimitText::OTHERS && others.is_empty() {
            return Err(format!("others: found none in `{}` beside `{}`", text.others, text.programs));
        }
        Ok(Resolved {
            metric: paper.metric(&text.metric)?,
            system: paper.setup(&text.system, None)?,
            over: text.over.as_deref().map(|over| paper.setup(over, None)).transpose()?,
            programs,
            others,
            limit,
            above,
        })
    }

    fn jobs(&self) -> Vec<FigureJob<'a>> {
        let workloads = self.programs.iter().chain(self.others.iter().copied());
        let setups = || std::iter::once(&self.system).chain(&self.over);
        workloads
            .flat_map(|workload| setups().flat_map(|setup| setup.jobs(self.metric.kind, workload)))
            .collect()
    }

    fn value(&self, answers: &mut Answers<'_>, workload: &str) -> Cell {
        let value = self.system.value(answers, self.metric, workload);
        match &self.over {
            None => value,
            Some(over) => divide(value, &over.value(answers, self.metric, workload)),
        }
    }

    fn limit(&self, answers: &mut Answers<'_>) -> Cell {
        match self.limit {
            LimitText::Number(number) => Ok(number),
            LimitText::Word(_) => {
                let values: Vec<f64> =
                    self.others.iter().map(|name| self.value(answers, name)).collect::<Result<_, _>>()?;
                Ok(values.iter().sum::<f64>() / values.len() as f64)
            }
        }
    }
}

/// The jobs that a sentence needs.
///
/// # Errors
/// An unknown name.
pub fn jobs<'a>(paper: &'a Paper, text: &StatementText) -> Result<Vec<FigureJob<'a>>, String> {
    Ok(Resolved::new(paper, text)?.jobs())
}

/// What a paper's text says of programs, beside a store's runs.
///
/// # Errors
/// A paper whose data is wrong.
pub fn statements(paper: &Paper, answers: &mut Answers<'_>) -> Result<Vec<Statement>, String> {
    let mut found = Vec::new();
    answers.take_origin();
    for text in &paper.statements {
        let of = |error: String| format!("{}: statement `{}`: {error}", paper.file, text.says);
        let resolved = Resolved::new(paper, text).map_err(of)?;
        let limit = resolved.limit(answers);
        let programs = resolved.programs.iter().map(|program| OfProgram {
            program: program.clone(),
            value: resolved.value(answers, program),
            limit: limit.clone(),
            above: resolved.above,
        });
        let programs = programs.collect();
        let over = text.over.as_ref().map_or(String::new(), |over| format!(" over {over}"));
        let unit = if text.over.is_some() { "x".to_owned() } else { resolved.metric.unit.clone() };
        let what = format!("{}, {}{over}", resolved.metric.title, text.system);
        let (says, source) = (text.says.clone(), text.source.clone());
        found.push(Statement { says, source, what, unit, programs, origin: answers.take_origin() });
    }
    Ok(found)
}
