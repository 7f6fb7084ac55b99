//! Who runs tasks, and what it is asked.

use std::path::Path;

use super::submission::Submission;

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
