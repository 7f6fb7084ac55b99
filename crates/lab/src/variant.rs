//! A machine under a name: a base, a system laid over it, and overrides.

use strata_gpu::machine::Machine;

/// A way to make a machine, and what readers call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name in figures.
    pub name: String,
    /// The base: a built-in machine's name or a machine file.
    pub base: String,
    /// The system laid over it, or several as `a+b`.
    pub system: Option<String>,
    /// `door.key=value` assignments, applied last.
    pub sets: Vec<String>,
}

impl Variant {
    /// This one with more overrides, under a name that says so.
    #[must_use]
    pub fn with(mut self, sets: &[String]) -> Variant {
        for set in sets {
            self.name = format!("{} with {set}", self.name);
            self.sets.push(set.clone());
        }
        self
    }

    /// The machine.
    ///
    /// # Errors
    /// An unknown system, or what is wrong with the machine.
    pub fn machine(&self) -> Result<Machine, String> {
        Machine::load_with(&self.base, self.system.as_slice(), &self.sets).map_err(|error| error.to_string())
    }
}
