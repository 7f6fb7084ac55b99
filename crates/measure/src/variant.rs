//! A named machine: a base, a system laid over it, and overrides; and which version of workloads it runs.

use std::borrow::Cow;

use strata_gpu::machine::Machine;

/// A recipe for a machine, with a name for readers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Name that figures show.
    pub name: String,
    /// The base: a built-in machine's name or a machine file.
    pub base: String,
    /// The system laid over the base, or several as `a+b`.
    pub system: Option<String>,
    /// Overrides, `door.key=value`, applied last.
    pub sets: Vec<String>,
    /// The version of the workloads that run on it; `None` for the one that is named.
    pub version: Option<String>,
}

impl Variant {
    /// This variant with more overrides, which also extend its name.
    #[must_use]
    pub fn with(mut self, sets: &[String]) -> Variant {
        for set in sets {
            self.name = format!("{} with {set}", self.name);
            self.sets.push(set.clone());
        }
        self
    }

    /// The name of the program that runs on this machine where a workload is asked for: that workload in this variant's
    /// version.
    #[must_use]
    pub fn program<'a>(&self, workload: &'a str) -> Cow<'a, str> {
        match &self.version {
            None => workload.into(),
            Some(version) => format!("{workload}@{version}").into(),
        }
    }

    /// Builds the machine.
    ///
    /// # Errors
    /// An unknown system, or what is wrong with the machine.
    pub fn machine(&self) -> Result<Machine, String> {
        Machine::load_with(&self.base, self.system.as_slice(), &self.sets).map_err(|error| error.to_string())
    }
}
