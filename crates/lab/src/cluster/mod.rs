//! Has the jobs that a store lacks run by a cluster's scheduler.
//!
//! The jobs are dealt out to batches, and the scheduler gets a task for each. A task runs its jobs as a sweep on its own host, and
//! adds each result to the store as it comes. The store alone says what is finished: the scheduler is only asked whether it still
//! has tasks. When it has none and jobs are missing, these are submitted again, in new batches.
//!
//! | module | subject |
//! |---|---|
//! | `batch` | the jobs of one task, and their file |
//! | `submission` | the folder that tasks read from and write to |
//! | `follow` | submits, waits, and submits again |
//! | `slurm` | an array of tasks, by `sbatch` |
//! | `hyperqueue` | a job of many tasks, by HyperQueue's Python package |
//! | `ask` | what a scheduler's command says |

mod ask;
pub mod batch;
mod follow;
mod hyperqueue;
mod slurm;
mod submission;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::job::Job;
use crate::store::Store;
use crate::sweep::{Progress, Swept};

pub use hyperqueue::HyperQueue;
pub use slurm::Slurm;
pub use submission::Submission;

/// Runs the tasks of submissions.
pub trait Scheduler {
    /// Begins the names of its submissions.
    fn kind(&self) -> &'static str;

    /// Its name, for readers.
    fn title(&self) -> &'static str;

    /// The script that each task runs.
    fn script(&self) -> &'static str;

    /// Most tasks that a submission may have; `is_chosen` where somebody has chosen the size of batches.
    fn most_tasks(&self, is_chosen: bool) -> usize;

    /// Submits a task for each batch, to run its jobs for the store in a folder. Returns what the scheduler calls them.
    ///
    /// # Errors
    /// What the scheduler says.
    fn submit(&self, submission: &Submission, store: &Path) -> Result<String, String>;

    /// How many of a submission's tasks have not ended.
    ///
    /// # Errors
    /// If the scheduler does not answer. It may next time.
    fn look(&self, submission: &Submission) -> Result<Tasks, String>;

    /// Ends a submission's tasks, whose batches have been withdrawn.
    ///
    /// # Errors
    /// What the scheduler says.
    fn cancel(&self, submission: &Submission) -> Result<(), String>;
}

/// Tasks that have not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tasks {
    /// Those that run. Also those that wait, where the scheduler does not tell.
    pub running: usize,
    /// Those that wait.
    pub waiting: usize,
    /// Why they wait, in the scheduler's words.
    pub reason: Option<String>,
}

/// How a sweep is run on a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Most jobs of a task. By default, about a minute's.
    pub batch: Option<usize>,
    /// How often a job may be submitted until it has a result or has failed, at least 1.
    pub rounds: u32,
    /// Set from outside to stop the sweep.
    pub interrupt: Option<&'static AtomicBool>,
}

/// What a sweep on a cluster has to say.
#[derive(Debug)]
pub enum Event<'a> {
    /// How far it is, and what its tasks do.
    Progress(Progress<'a>, &'a str),
    /// Something that happened, as a sentence.
    Note(&'a str),
}

/// Runs each job that the store lacks on a cluster, until all have ended, rounds are used up or the sweep is interrupted. Tasks
/// that another process of this user submitted for the store and does not follow any more are followed instead of new ones.
///
/// # Errors
/// If the scheduler takes no tasks or does not answer for long, or the store cannot be read or written. A failed job is not an
/// error here.
pub fn run(
    jobs: &[Job],
    store: &mut Store,
    scheduler: &dyn Scheduler,
    options: Options,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<Swept, String> {
    follow::Follower::new(jobs, store, scheduler, options, on_event)?.run()
}
