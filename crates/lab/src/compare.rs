//! Comparisons that users ask for, answered from a store.

pub use strata_measure::compare::{Comparison, Impossible};

use crate::grid::Grid;
use crate::job::Job;
use crate::question::Answers;
use crate::store::Store;

/// The jobs that a comparison needs, but for those on machines that cannot be.
///
/// # Errors
/// An unknown workload or system. No job is returned then.
pub fn jobs(comparison: &Comparison, store: &Store, impossible: &Impossible) -> Result<Vec<Job>, String> {
    let mut answers = Answers::new(store, comparison.size);
    let kinds = comparison.kinds();
    let mut jobs = Vec::new();
    for (workload, variant) in comparison.points(impossible) {
        for kind in &kinds {
            jobs.push(answers.job(*kind, workload, variant)?);
        }
    }
    Ok(jobs)
}

/// One grid for each metric of a comparison.
#[must_use]
pub fn grids(comparison: &Comparison, store: &Store) -> Vec<Grid> {
    let mut answers = Answers::new(store, comparison.size);
    comparison.grids(|metric, workload, variant| answers.value(metric, workload, variant))
}
