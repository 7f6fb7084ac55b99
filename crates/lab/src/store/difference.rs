//! How far a result that was found by name is from the job that was asked for.

use std::collections::BTreeSet;

use crate::job::Job;

use super::older::without_place;

/// What differs between a job of then and the one of the same names today.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Values of today's machine that the one of then lacks: keys that have come since.
    pub lacking: BTreeSet<String>,
    /// Values of the machine of then that are others today or gone, and the parts of the program that are others.
    pub changed: BTreeSet<String>,
}

impl Difference {
    /// Compares two jobs of the same names.
    #[must_use]
    pub fn between(then: &Job, now: &Job) -> Difference {
        let values = |job: &Job| -> BTreeSet<String> {
            job.machine_values().iter().cloned().filter_map(without_place).collect()
        };
        let (old, new) = (values(then), values(now));
        let mut changed: BTreeSet<String> = old.difference(&new).map(|value| path(value)).collect();
        let lacking = new.difference(&old).map(|value| path(value));
        let lacking = lacking.filter(|path| !changed.contains(path)).collect();
        let workload = &now.workload;
        if then.ptx != now.ptx {
            changed.insert(format!("PTX of {workload}"));
        }
        if then.inputs != now.inputs {
            changed.insert(format!("inputs of {workload}"));
        }
        Difference { lacking, changed }
    }
}

/// The path of a value, of its line in [`Job::canonical_machine`].
fn path(value: &str) -> String {
    value.split(' ').next().unwrap_or(value).to_owned()
}
