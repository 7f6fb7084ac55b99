//! Sweeps on clusters: options that have a scheduler run the jobs.

use std::ffi::OsString;
use std::path::Path;

use clap::Args;
use strata_lab::cluster::{HyperQueue, Scheduler, Slurm};

/// Which scheduler runs the jobs, and how.
#[derive(Args)]
pub struct ClusterArguments {
    /// Have Slurm run the missing jobs, as an array of tasks with several jobs each, and wait for them. OPTIONS are those of
    /// `sbatch`, as in `--slurm="--partition=short --time=1:00:00"`. The store must be in a file system that all nodes share.
    #[arg(long, value_name = "OPTIONS", num_args = 0..=1, require_equals = true, default_missing_value = "", group = "cluster")]
    slurm: Option<String>,
    /// Have HyperQueue run the missing jobs, and wait for them. DIR is the server's folder, by default the one that `hq` takes.
    /// Needs `python3` with PyPI's `hyperqueue`.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = "", group = "cluster")]
    hyperqueue: Option<OsString>,
    /// Most jobs of a task on a cluster. Default: about a minute's work.
    #[arg(long, value_name = "N", requires = "cluster")]
    pub batch: Option<usize>,
    /// How often to submit a job whose task dies.
    #[arg(long, value_name = "N", default_value_t = 3, requires = "cluster", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
}

impl ClusterArguments {
    /// The scheduler to run jobs with the `strata` command at a path; `None` to run them here.
    ///
    /// # Errors
    /// Options that cannot be read.
    pub fn scheduler(&self, command: &Path) -> Result<Option<Box<dyn Scheduler>>, String> {
        Ok(match (&self.slurm, &self.hyperqueue) {
            (Some(options), _) => Some(Box::new(Slurm::new(options, command.to_owned())?)),
            (_, Some(server)) => Some(Box::new(HyperQueue::new(server.into(), command.to_owned()))),
            _ => None,
        })
    }
}
