//! How far a sweep is, as a store's results and failures say.

use std::time::Duration;

use super::{Failure, Store, Sweep};
use crate::job::Key;

/// How far a sweep is.
#[derive(Debug, Default)]
pub struct Standing<'a> {
    /// Its jobs that have results.
    pub finished: usize,
    /// Of these, the ones that had their results before the sweep.
    pub before: usize,
    /// Its jobs that failed in it, sorted by key.
    pub failed: Vec<(&'a Key, &'a Failure)>,
    /// Expected work of the jobs that ended in it, in thread-instructions.
    work_done: u64,
    /// Expected work of those that did not end.
    work_left: u64,
}

impl Store {
    /// How far a sweep is. A failure that was noted before the sweep began does not count: its job is to run again.
    #[must_use]
    pub fn standing<'a>(&'a self, sweep: &Sweep) -> Standing<'a> {
        let mut standing = Standing::default();
        for planned in &sweep.jobs {
            let failed = self.failures.get_key_value(&planned.key);
            let failed = failed.filter(|(_, failure)| failure.written.is_none_or(|at| at >= sweep.written));
            if self.finished.contains_key(&planned.key) {
                standing.finished += 1;
                standing.before += usize::from(planned.finished);
                standing.work_done += if planned.finished { 0 } else { planned.work };
            } else if let Some(failed) = failed {
                standing.failed.push(failed);
                standing.work_done += planned.work;
            } else {
                standing.work_left += planned.work;
            }
        }
        standing.failed.sort_unstable_by_key(|(key, _)| *key);
        standing
    }
}

impl Standing<'_> {
    /// Jobs that ended in the sweep, successfully or not.
    #[must_use]
    pub fn ended(&self) -> usize {
        self.finished - self.before + self.failed.len()
    }

    /// How long the rest takes at the pace so far, by the work that jobs are expected to be; `None` while no job has ended.
    #[must_use]
    pub fn remaining(&self, elapsed: Duration) -> Option<Duration> {
        if self.work_done == 0 {
            return None;
        }
        let share = self.work_left as f64 / self.work_done as f64;
        Duration::try_from_secs_f64(elapsed.as_secs_f64() * share).ok()
    }
}
