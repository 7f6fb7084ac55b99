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
//! | `scheduler` | who runs tasks, and what it is asked |
//! | `follow` | submits, waits, and submits again |
//! | `slurm` | an array of tasks, by `sbatch` |
//! | `hyperqueue` | a job of many tasks, by HyperQueue's Python package |
//! | `ask` | what a scheduler's command says |

mod ask;
pub mod batch;
mod follow;
mod hyperqueue;
mod scheduler;
mod slurm;
mod submission;
#[cfg(test)]
mod tests;

pub use follow::{Event, Options, run};
pub use hyperqueue::HyperQueue;
pub use scheduler::{Scheduler, Tasks};
pub use slurm::Slurm;
pub use submission::Submission;
