//! Counts what other processes add to a store, by the names of its files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::contents;
use super::name::Name;
use crate::job::Key;

/// Which of some jobs have a result or a failure that was not there at the start. Opens no file, so it may be asked often; only
/// [`super::Store`] knows whether a result is whole.
#[derive(Debug)]
pub struct Census {
    folder: PathBuf,
    jobs: BTreeSet<Key>,
    /// Files of the jobs that were there at the start: damaged results and notes of earlier failures.
    before: BTreeMap<PathBuf, Stamp>,
    finished: BTreeSet<Key>,
    failed: BTreeSet<Key>,
}

/// Tells a file from another of its name: inode, and time of its last change in seconds and nanoseconds.
type Stamp = (u64, i64, i64);

fn stamp(path: &Path) -> Option<Stamp> {
    fs::symlink_metadata(path).ok().map(|found| (found.ino(), found.mtime(), found.mtime_nsec()))
}

impl Census {
    /// Begins to count results and failures of jobs without a result.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn begin(folder: &Path, jobs: BTreeSet<Key>) -> Result<Census, String> {
        let mut census = Census {
            folder: folder.to_owned(),
            jobs,
            before: BTreeMap::new(),
            finished: BTreeSet::new(),
            failed: BTreeSet::new(),
        };
        for (path, name) in contents::list(folder)? {
            if let Name::Result(key, _) | Name::Failure(key) = name
                && census.jobs.contains(&key)
                && let Some(stamp) = stamp(&path)
            {
                census.before.insert(path, stamp);
            }
        }
        Ok(census)
    }

    /// Looks at the folder again. Returns the jobs that have finished since the last time.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn look(&mut self) -> Result<Vec<Key>, String> {
        let mut new = Vec::new();
        self.failed.clear();
        for (path, name) in contents::list(&self.folder)? {
            let is_old = |path: &Path| {
                self.before.get(path).is_some_and(|old| stamp(path).is_none_or(|now| now == *old))
            };
            match name {
                Name::Result(key, _)
                    if self.jobs.contains(&key) && !self.finished.contains(&key) && !is_old(&path) =>
                {
                    self.finished.insert(key.clone());
                    new.push(key);
                }
                Name::Failure(key) if self.jobs.contains(&key) && !is_old(&path) => {
                    self.failed.insert(key);
                }
                _ => {}
            }
        }
        Ok(new)
    }

    /// Jobs that had a result when this last looked, or before.
    #[must_use]
    pub fn finished(&self) -> &BTreeSet<Key> {
        &self.finished
    }

    /// Whether a job's failure was noted since the start, when this last looked.
    #[must_use]
    pub fn has_failed(&self, key: &Key) -> bool {
        self.failed.contains(key)
    }

    /// How many jobs have a result or a failure.
    #[must_use]
    pub fn ended(&self) -> usize {
        self.finished.len() + self.failed.iter().filter(|key| !self.finished.contains(*key)).count()
    }
}
