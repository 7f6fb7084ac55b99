//! What running cost the host: beside the results, never in them.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use crate::job::Job;

/// Name of the log in a store's folder.
const FILE: &str = "host.log";

/// What a job cost the host.
#[derive(Clone, Copy, Debug)]
pub struct HostTime {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Most memory the process held, in bytes; 0 where the host does not tell.
    pub peak_memory_bytes: u64,
}

impl HostTime {
    /// Adds a line to a store's log.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn append(&self, folder: &Path, job: &Job) -> Result<(), String> {
        let path = folder.join(FILE);
        let line = format!(
            "{} {} {} {} {:.3} s {} bytes\n",
            job.key(),
            job.workload,
            job.size,
            if job.variant.is_empty() { "-" } else { &job.variant },
            self.seconds,
            self.peak_memory_bytes
        );
        // One write to a file opened for appending: lines of several writers do not mix.
        let file = OpenOptions::new().create(true).append(true).open(&path);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(|error| format!("{}: {error}", path.display()))
    }
}
