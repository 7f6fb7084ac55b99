//! What lies in a store's folder and is no result.

use std::fmt;
use std::path::PathBuf;

use super::{file, named};

/// Something that is passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where it lies.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

/// What was found when a store was opened, besides its results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// What lies in the place of a result or of another file of the store and is none, sorted by path. The jobs of
    /// such results count as not run.
    pub passed_over: Vec<Finding>,
    /// Files that a killed process left behind.
    pub leftovers: Vec<PathBuf>,
}

impl Findings {
    /// Removes what killed processes left behind. Everything else stays.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn clean(&self) -> Result<(), String> {
        self.leftovers
            .iter()
            .try_for_each(|path| file::remove_abandoned(path).map_err(|error| named(path, &error)))
    }
}
