//! What a list shows of a finished job.

use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::record::{Record, Value};

/// A finished job with the numbers that sum it up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The job without its machine.
    pub job: Job,
    /// Kernel launches.
    pub launches: Option<u64>,
    /// Cycles of the whole run; `None` for a profile.
    pub cycles: Option<u64>,
    /// Instructions of all threads.
    pub thread_instructions: Option<u64>,
}

impl Run {
    pub(super) fn of(record: &Record) -> Run {
        let count = |counter| match record.get("run", counter) {
            Some(Value::Count(count)) => Some(count),
            _ => None,
        };
        Run {
            job: Job { machine: None, ..record.job.clone() },
            launches: count("launches"),
            cycles: count("cycles"),
            thread_instructions: count("thread_instructions"),
        }
    }
}
