//! Where some numbers come from: the runs, the versions that ran them, and what has changed since.

use std::collections::BTreeSet;

use crate::job::Key;
use crate::store::Difference;

/// The runs behind some numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Versions of the simulator that ran them.
    pub versions: BTreeSet<String>,
    /// Their keys.
    pub runs: BTreeSet<Key>,
    /// How runs that were found by name differ from what was asked for.
    pub difference: Difference,
}

impl Origin {
    /// Adds other runs.
    pub fn add(&mut self, other: &Origin) {
        self.versions.extend(other.versions.iter().cloned());
        self.runs.extend(other.runs.iter().cloned());
        self.differs(&other.difference);
    }

    /// Adds a run that was found by name.
    pub(crate) fn differs(&mut self, by: &Difference) {
        self.difference.lacking.extend(by.lacking.iter().cloned());
        self.difference.changed.extend(by.changed.iter().cloned());
    }

    /// What has changed since the runs, a sentence each.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let Difference { lacking, changed } = &self.difference;
        let of = |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let mut sentences = Vec::new();
        if !lacking.is_empty() {
            sentences.push(format!("found runs by name: their machines lack {}", of(lacking)));
        }
        if !changed.is_empty() {
            sentences.push(format!("found runs by name: these have changed since: {}", of(changed)));
        }
        sentences
    }
}
