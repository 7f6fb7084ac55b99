//! Who runs a job: one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::{file, name, named};
use crate::job::Key;

/// A job that this process runs. Dropping it gives the job back, as does the end of the process.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    /// Locked while the claim lives.
    file: File,
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Who waits for the lock looks whether the file is still there, so it may go. A claim is empty: what somebody
        // has written stays.
        if file::is_at(&self.file, &self.path) && is_empty(&self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether a claim's file is as claims are.
pub(super) fn is_empty(file: &File) -> bool {
    file.metadata().is_ok_and(|found| found.len() == 0)
}

/// Claims a job. `None` if another process has claimed it; with `wait`, waits until that one is done.
///
/// # Errors
/// If the store's folder cannot be written, or what lies in the claim's place is no file.
pub fn claim(folder: &Path, key: &Key, wait: bool) -> Result<Option<Claim>, String> {
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    let path = folder.join(format!("{key}{}", name::CLAIM));
    loop {
        let file = file::open(&path, OpenOptions::new().create(true).append(true))
            .map_err(|error| format!("{}; nobody can run its job", named(&path, &error)))?;
        if wait {
            file.lock().map_err(|error| named(&path, &error))?;
        } else {
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(named(&path, &error)),
            }
        }
        // Whoever held the lock before has removed the file, and the next one makes another.
        if file::is_at(&file, &path) {
            return Ok(Some(Claim { path, file }));
        }
    }
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
    file::probe(&folder.join(name::PROBE)).map_err(refused)
}
