//! What a bar of a figure stands for: one machine, or for each workload the best of several.

use std::collections::BTreeMap;

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

/// The parts that identify a job.
#[derive(Clone, Debug)]
pub struct FigureJob<'a> {
    /// What the job measures.
    pub kind: Kind,
    /// Name of the workload.
    pub workload: &'a str,
    /// The machine to run on.
    pub variant: Variant,
}

/// A machine, or a choice between machines that is made for each workload from measured numbers.
#[derive(Clone, Debug)]
pub enum Setup {
    /// One machine for all workloads.
    Machine(Variant),
    /// For each workload the machine with the least of a metric.
    Best(Best),
}

/// A choice between machines.
#[derive(Clone, Debug)]
pub struct Best {
    /// Name that figures show.
    pub name: String,
    /// The metric of which the chosen machine has the least. Of equals, the first is chosen.
    pub least: Metric,
    /// The machines to choose from, at least one.
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

    /// The jobs that a metric of a workload needs.
    #[must_use]
    pub fn jobs<'a>(&self, kind: Kind, workload: &'a str) -> Vec<FigureJob<'a>> {
        let job = |kind, variant: &Variant| FigureJob { kind, workload, variant: variant.clone() };
        match self {
            Setup::Machine(variant) => vec![job(kind, variant)],
            Setup::Best(best) => best
                .of
                .iter()
                .flat_map(|variant| [job(best.least.kind, variant), job(kind, variant)])
                .collect(),
        }
    }

    /// The machine for a workload.
    ///
    /// # Errors
    /// Why a number to choose by is missing.
    pub fn variant(&self, answers: &mut Answers<'_>, workload: &str) -> Result<&Variant, String> {
        match self {
            Setup::Machine(variant) => Ok(variant),
            Setup::Best(best) => best.variant(answers, workload),
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
    fn variant(&self, answers: &mut Answers<'_>, workload: &str) -> Result<&Variant, String> {
        let mut best: Option<(&Variant, f64)> = None;
        for variant in &self.of {
            let value = answers
                .value(&self.least, workload, variant)
                .map_err(|reason| format!("`{}` chooses from `{}`: {reason}", self.name, variant.name))?;
            if best.is_none_or(|(_, least)| value < least) {
                best = Some((variant, value));
            }
        }
        best.map(|(variant, _)| variant).ok_or_else(|| format!("`{}` has nothing to choose from", self.name))
    }
}
