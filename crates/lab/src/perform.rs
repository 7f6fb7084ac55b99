//! Runs one job for a store: looks it up, claims it, measures it and adds its result.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use strata_gpu::results::peak_memory_bytes;

use crate::job::Job;
use crate::record::{self, Record};
use crate::store::{self, HostTime};
use crate::sweep::describe;

/// What became of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Performed {
    /// The store has its result, in this file or pack.
    Stored {
        /// Where.
        path: PathBuf,
        /// What else went wrong, of which the result knows nothing.
        warning: Option<String>,
    },
    /// Another process runs it.
    Elsewhere,
}

impl Performed {
    fn stored(path: PathBuf) -> Performed {
        Performed::Stored { path, warning: None }
    }
}

/// Runs a job, unless the store in `folder` has its result. With `wait`, waits for whoever already runs it. A job that fails
/// is noted in the store; one that `interrupt` stops is not.
///
/// # Errors
/// Why the store has no result.
pub fn perform(
    job: &Job,
    folder: &Path,
    wait: bool,
    interrupt: Option<&'static AtomicBool>,
) -> Result<Performed, String> {
    let finished = || Ok::<_, String>(store::finished(folder, &job.key())?.map(|(path, _)| path));
    if let Some(path) = finished()? {
        return Ok(Performed::stored(path));
    }
    let Some(_claim) = store::claim(folder, &job.key(), wait)? else { return Ok(Performed::Elsewhere) };
    // Whoever held the claim before may have finished the job.
    if let Some(path) = finished()? {
        return Ok(Performed::stored(path));
    }
    let started = Instant::now();
    let record = record::measure(job, interrupt).map_err(|reason| {
        let error = format!("{}: {reason}", describe(job));
        if interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return error;
        }
        match store::fail(folder, job, &reason) {
            Ok(()) => error,
            Err(other) => format!("{error}; {other}"),
        }
    })?;
    let path = put(folder, &record)?;
    let seconds = started.elapsed().as_secs_f64();
    let cost = HostTime { seconds, peak_memory_bytes: peak_memory_bytes() };
    let warning = cost.append(folder, job).err().map(|error| format!("{error}; the result is stored"));
    Ok(Performed::Stored { path, warning })
}

/// Adds a record to a store and returns its file. A record that the store does not take is kept in the host's temporary
/// folder.
///
/// # Errors
/// Why the store did not take it, and where it is.
pub fn put(folder: &Path, record: &Record) -> Result<PathBuf, String> {
    store::put(folder, record).map_err(|error| {
        let rescue = std::env::temp_dir().join("strata-rescued");
        match store::put(&rescue, record) {
            Ok(path) => format!("{error}; the result is kept in {}", path.display()),
            Err(other) => format!("{error}; {other}"),
        }
    })
}
