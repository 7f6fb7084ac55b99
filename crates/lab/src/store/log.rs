//! Cost of runs to the host, logged beside the results but never in them.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use super::file;
use crate::job::Job;

/// Name of the log file in a store's folder.
const FILE: &str = "host.log";

/// The cost of a job to the host.
#[derive(Clone, Copy, Debug)]
pub struct HostTime {
    /// Wall-clock time of the job in seconds.
    pub seconds: f64,
    /// Peak memory of the process in bytes; 0 if the host does not report it.
    pub peak_memory_bytes: u64,
}

impl HostTime {
    /// Appends a line to a store's log.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn append(&self, folder: &Path, job: &Job) -> Result<(), String> {
        let path = folder.join(FILE);
        let line = format!(
            "{} {} {} {} {:.3} s {} bytes\n",
            job.key(),
            job.workload,
            if job.executed { "-" } else { job.size.name() },
            if job.variant.is_empty() { "-" } else { &job.variant },
            self.seconds,
            self.peak_memory_bytes
        );
        // A single write to a file opened for appending keeps lines of several writers apart.
        let file = file::open(&path, OpenOptions::new().create(true).append(true));
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(|error| format!("{}: {error}", path.display()))
    }
}
