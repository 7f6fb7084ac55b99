//! Jobs that failed, and why: a file `KEY.failed` beside the results, until the job succeeds.

use std::path::Path;
use std::time::SystemTime;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::{file, name, named};
use crate::job::{Job, Key};
use crate::sweep::describe;

/// Name of the format.
const FORMAT: &str = "strata-failure-1";

/// Most bytes of a file.
const BYTES: u64 = 64 << 10;

/// Most bytes of a reason that are kept.
const REASON_BYTES: usize = 8 << 10;

/// A job that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    format: String,
    /// The job, for readers: workload, size and machine.
    pub job: String,
    /// Why it failed.
    pub reason: String,
    /// When that was noted, by the clock of the file's host, where it says.
    #[serde(skip)]
    pub written: Option<SystemTime>,
}

/// Notes that a job failed. A note of an earlier failure is replaced.
///
/// # Errors
/// If the store takes no file, or something else lies in its place.
pub fn fail(folder: &Path, job: &Job, reason: &str) -> Result<(), String> {
    let mut reason = reason.to_owned();
    if reason.len() > REASON_BYTES {
        let end = (0..=REASON_BYTES).rev().find(|at| reason.is_char_boundary(*at));
        reason.truncate(end.expect("a text begins at a boundary"));
        reason += " ...";
    }
    let failure = Failure { format: FORMAT.into(), job: describe(job), reason, written: None };
    let path = place(folder, &job.key());
    let text = toml::to_string(&failure).expect("texts are TOML");
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    file::write(&path, text.as_bytes()).map_err(|error| named(&path, &error))
}

/// Removes the note of a job's failure. What is no such note stays.
pub(super) fn forget(folder: &Path, key: &Key) {
    let path = place(folder, key);
    if read(&path).is_ok() {
        // It is ignored beside a result, so it may as well stay.
        let _ = file::remove(&path);
    }
}

fn place(folder: &Path, key: &Key) -> std::path::PathBuf {
    folder.join(format!("{key}{}", name::FAILURE))
}

/// Reads a note.
///
/// # Errors
/// What lies there instead.
pub(super) fn read(path: &Path) -> io::Result<Failure> {
    let wrong = |found: String| io::Error::other(format!("{found}, expected the failure of a job"));
    let text = String::from_utf8(file::read(path, BYTES)?).map_err(|error| wrong(error.to_string()))?;
    let mut failure: Failure =
        toml::from_str(&text).map_err(|error| wrong(error.message().trim().to_owned()))?;
    if failure.format != FORMAT {
        return Err(wrong(format!("format: found `{}`", failure.format)));
    }
    failure.written = fs::symlink_metadata(path).and_then(|found| found.modified()).ok();
    Ok(failure)
}
