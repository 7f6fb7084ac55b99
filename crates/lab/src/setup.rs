//! What a bar of a figure stands for: one machine, or for each workload the best of several.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::job::Kind;
use crate::metric::Metric;
use crate::question::{Answers, Cell};
use crate::variant::Variant;

/// Overrides for each system, by the system's name.
pub type Sets = BTreeMap<String, Vec<String>>;

/// The override that sets a key to a value of a paper's file.
pub(crate) fn assignment(key: &str, value: &toml::Value) -> String {
    format!("{key}={}", written(value))
}

/// A value of a paper's file as an override spells it.
pub(crate) fn written(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The parts that identify a job, and what it depends on.
#[derive(Clone, Debug)]
pub struct FigureJob<'a> {
    /// What the job measures.
    pub kind: Kind,
    /// Name of the workload.
    pub workload: &'a str,
    /// The machine to run on.
    pub variant: Variant,
    /// The choice that must fall on this machine, with the machine's place, for the job to be needed.
    choice: Option<(Rc<Best>, usize)>,
}

impl<'a> FigureJob<'a> {
    /// A job that is needed whatever others measure.
    #[must_use]
    pub fn new(kind: Kind, workload: &'a str, variant: Variant) -> FigureJob<'a> {
        FigureJob { kind, workload, variant, choice: None }
    }

    /// Whether the job is needed, as far as is known: a machine that may be chosen is not, until it has been.
    pub fn is_needed(&self, answers: &mut Answers<'_>) -> bool {
        match &self.choice {
            None => true,
            Some((best, place)) => best.place(answers, self.workload).is_ok_and(|chosen| chosen == *place),
        }
    }
}

/// A machine, or a choice between machines that is made for each workload from measured numbers.
#[derive(Clone, Debug)]
pub enum Setup {
    /// One machine for all workloads.
    Machine(Variant),
    /// For each workload the machine with the least of a metric, or what stands in its place.
    Best(Rc<Best>),
}

/// A choice between machines.
#[derive(Clone, Debug)]
pub struct Best {
    /// Name that figures show.
    pub name: String,
    /// The metric of which the chosen machine has the least. Of equals, the first is chosen.
    pub least: Metric,
    /// The machines to compare, at least one.
    pub compared: Vec<Variant>,
    /// What is chosen with each of them: itself, or another machine in its place.
    pub of: Vec<Variant>,
}

impl Setup {
    /// Name that figures show.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Setup::Machine(variant) => &variant.name,
            Setup::Best(best) => &best.name,
        }
    }

    /// The machine, of a setup that is one for all workloads.
    ///
    /// # Errors
    /// If it is a choice.
    pub fn machine(self) -> Result<Variant, String> {
        match self {
            Setup::Machine(variant) => Ok(variant),
            Setup::Best(best) => {
                Err(format!("`{}` is the best of several, expected a system that is one machine", best.name))
            }
        }
    }

    /// One of its machines: of a choice, the first that is compared.
    #[must_use]
    pub fn one(&self) -> &Variant {
        match self {
            Setup::Machine(variant) => variant,
            Setup::Best(best) => &best.compared[0],
        }
    }

    /// The jobs that a metric of a workload needs, or may need.
    #[must_use]
    pub fn jobs<'a>(&self, kind: Kind, workload: &'a str) -> Vec<FigureJob<'a>> {
        match self {
            Setup::Machine(variant) => vec![FigureJob::new(kind, workload, variant.clone())],
            Setup::Best(best) => {
                let comparing =
                    |variant: &Variant| FigureJob::new(best.least.kind, workload, variant.clone());
                let chosen = |(place, variant): (usize, &Variant)| FigureJob {
                    choice: Some((Rc::clone(best), place)),
                    ..FigureJob::new(kind, workload, variant.clone())
                };
                let comparing = best.compared.iter().map(comparing);
                comparing.chain(best.of.iter().enumerate().map(chosen)).collect()
            }
        }
    }

    /// The same with other machines, which `make` makes of its own.
    #[must_use]
    pub fn on(&self, make: &dyn Fn(&Variant) -> Variant) -> Setup {
        match self {
            Setup::Machine(variant) => Setup::Machine(make(variant)),
            Setup::Best(best) => Setup::Best(Rc::new(Best {
                compared: best.compared.iter().map(make).collect(),
                of: best.of.iter().map(make).collect(),
                ..(**best).clone()
            })),
        }
    }

    /// Every machine that it compares or may choose.
    #[must_use]
    pub fn machines(self) -> Vec<Variant> {
        match self {
            Setup::Machine(variant) => vec![variant],
            Setup::Best(best) => best.compared.iter().chain(&best.of).cloned().collect(),
        }
    }

    /// The machine for a workload.
    ///
    /// # Errors
    /// Why a number to choose by is missing.
    pub fn variant(&self, answers: &mut Answers<'_>, workload: &str) -> Result<&Variant, String> {
        match self {
            Setup::Machine(variant) => Ok(variant),
            Setup::Best(best) => best.place(answers, workload).map(|place| &best.of[place]),
        }
    }

    /// The value of a metric.
    ///
    /// # Errors
    /// As [`Answers::value`] and [`Setup::variant`].
    pub fn value(&self, answers: &mut Answers<'_>, metric: &Metric, workload: &str) -> Cell {
        let variant = self.variant(answers, workload)?;
        answers.value(metric, workload, variant)
    }

    /// As [`Answers::is_undefined`].
    pub fn is_undefined(&self, answers: &mut Answers<'_>, metric: &Metric, workload: &str) -> bool {
        let variant = self.variant(answers, workload);
        variant.is_ok_and(|variant| answers.is_undefined(metric, workload, variant))
    }
}

impl Best {
    /// The place of the machine that is chosen for a workload.
    fn place(&self, answers: &mut Answers<'_>, workload: &str) -> Result<usize, String> {
        let mut best: Option<(usize, f64)> = None;
        for (place, variant) in self.compared.iter().enumerate() {
            let value = answers
                .value(&self.least, workload, variant)
                .map_err(|reason| format!("`{}` chooses from `{}`: {reason}", self.name, variant.name))?;
            if best.is_none_or(|(_, least)| value < least) {
                best = Some((place, value));
            }
        }
        best.map(|(place, _)| place).ok_or_else(|| format!("`{}` has nothing to choose from", self.name))
    }
}
