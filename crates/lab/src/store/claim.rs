//! Who runs a job: one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::named;
use crate::job::Key;

/// Suffix of the files that are locked while their jobs run.
pub(super) const SUFFIX: &str = ".claim";

/// A job that this process runs. Dropping it gives the job back, as does the end of the process.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    /// Locked while the claim lives.
    _file: File,
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Who waits for the lock looks for the result when it has it, so the file may go.
        let _ = fs::remove_file(&self.path);
    }
}

/// Claims a job. `None` if another process has claimed it; with `wait`, waits until that one is done.
///
/// # Errors
/// If the store's folder cannot be written.
pub fn claim(folder: &Path, key: &Key, wait: bool) -> Result<Option<Claim>, String> {
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    let path = folder.join(format!("{key}{SUFFIX}"));
    let file =
        OpenOptions::new().create(true).append(true).open(&path).map_err(|error| named(&path, &error))?;
    if wait {
        file.lock().map_err(|error| named(&path, &error))?;
    } else {
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(named(&path, &error)),
        }
    }
    Ok(Some(Claim { path, _file: file }))
}

/// Checks that results can be added to a store.
///
/// # Errors
/// Why they cannot.
pub fn check_writable(folder: &Path) -> Result<(), String> {
    let refused = |error: std::io::Error| {
        format!("{}: {error}, expected a folder that results can be added to", folder.display())
    };
    fs::create_dir_all(folder).map_err(refused)?;
    let path = folder.join(format!("{}.probe{}", std::process::id(), super::TEMPORARY));
    fs::write(&path, [0; 4096]).map_err(refused)?;
    fs::remove_file(&path).map_err(refused)
}
