//! Finds out what lies in a store's folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use strata_gpu::machine::identity::digest;

use super::claim;
use super::failure::{self, Failure};
use super::file;
use super::findings::{Finding, Findings};
use super::name::Name;
use super::run::Run;
use super::{columns, named};
use crate::job::Key;
use crate::record::Record;

/// Most bytes of a result. A run with a million launches stays far below.
pub const RESULT_BYTES: u64 = 256 << 20;

/// What a store's folder holds.
#[derive(Debug, Default)]
pub struct Contents {
    /// The finished jobs.
    pub results: BTreeMap<Key, Place>,
    /// Jobs with results that contradict each other, and which these are.
    pub contradictions: BTreeMap<Key, String>,
    /// Jobs that failed.
    pub failures: BTreeMap<Key, Failure>,
    /// Everything else.
    pub findings: Findings,
}

/// Where a result lies.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its file.
    pub path: PathBuf,
    /// What a list shows of it.
    pub run: Run,
}

impl Contents {
    /// Reads a folder. A missing folder is empty. Results that are in `known` are not read again.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn read(folder: &Path, known: &BTreeMap<Key, Place>) -> Result<Contents, String> {
        let mut contents = Contents::default();
        for (path, name) in list(folder)? {
            contents.add(path, name, known);
        }
        let Contents { results, contradictions, .. } = &mut contents;
        results.retain(|key, _| !contradictions.contains_key(key));
        Ok(contents)
    }

    fn add(&mut self, path: PathBuf, name: Name, known: &BTreeMap<Key, Place>) {
        match name {
            Name::Result(key, checksum) => {
                if let Some(place) = known.get(&key).filter(|place| place.path == path) {
                    return self.add_result(key, place.clone());
                }
                match read_result(&path, &key, &checksum) {
                    Ok(record) => self.add_result(key, Place { path, run: Run::of(&record) }),
                    Err(Flaw::Gone) => {}
                    Err(flaw) => self.pass_over(path, flaw.to_string()),
                }
            }
            Name::Failure(key) => match failure::read(&path) {
                Ok(failure) => drop(self.failures.insert(key, failure)),
                Err(error) => self.pass_over_unless_gone(path, &error),
            },
            Name::Claim(_) | Name::Temporary => match file::open_to_read(&path) {
                Ok(found) if name == Name::Temporary || claim::is_empty(&found) => {
                    if found.try_lock().is_ok() {
                        self.findings.leftovers.push(path);
                    }
                }
                Ok(_) => self.pass_over(path, "found a file with contents, expected an empty one".into()),
                Err(error) => self.pass_over_unless_gone(path, &error),
            },
            Name::Wrong(expected) => self.pass_over(path, format!("found this name, expected {expected}")),
            Name::Other => {}
        }
    }

    fn add_result(&mut self, key: Key, place: Place) {
        let Some(other) = self.results.get(&key) else {
            self.results.insert(key, place);
            return;
        };
        let rows = |place: &Place| super::rows(&place.path);
        if rows(other).is_ok_and(|one| rows(&place).is_ok_and(|other| one == other)) {
            return;
        }
        let (one, two) = (other.path.clone(), place.path);
        let contradicts =
            |path: &Path| format!("contradicts {}, another result of the same job", path.display());
        self.contradictions.insert(key, format!("{}: {}", one.display(), contradicts(&two)));
        let is_new = !self.findings.passed_over.iter().any(|finding| finding.path == one);
        if is_new {
            self.pass_over(one.clone(), contradicts(&two));
        }
        self.pass_over(two, contradicts(&one));
    }

    fn pass_over(&mut self, path: PathBuf, reason: String) {
        self.findings.passed_over.push(Finding { path, reason });
    }

    fn pass_over_unless_gone(&mut self, path: PathBuf, error: &io::Error) {
        if error.kind() != ErrorKind::NotFound {
            self.pass_over(path, error.to_string());
        }
    }
}

/// What lies in a folder, sorted by path; nothing if there is no folder.
///
/// # Errors
/// If the folder cannot be read.
pub fn list(folder: &Path) -> Result<Vec<(PathBuf, Name)>, String> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
        entries => entries.map_err(|error| named(folder, &error))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| named(folder, &error))?.path();
        let name = Name::read(&path.file_name().unwrap_or_default().to_string_lossy());
        if name != Name::Other {
            found.push((path, name));
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found)
}

/// Why a file is not the result that its name promises.
#[derive(Debug)]
pub enum Flaw {
    /// It is not there any more.
    Gone,
    /// It is a regular file with bytes other than those that were written.
    Damaged,
    /// Anything else.
    Other(String),
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Flaw::Gone => f.write_str("is gone"),
            Flaw::Damaged => f.write_str("is damaged: its bytes are not those of its checksum"),
            Flaw::Other(reason) => f.write_str(reason),
        }
    }
}

/// Reads the result of a job.
///
/// # Errors
/// What lies there instead.
pub fn read_result(path: &Path, key: &Key, checksum: &str) -> Result<Record, Flaw> {
    let bytes = file::read(path, RESULT_BYTES).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Flaw::Gone,
        _ => Flaw::Other(error.to_string()),
    })?;
    decode(bytes, key, checksum)
}

/// Decodes the result of a job.
///
/// # Errors
/// What the bytes are instead.
pub fn decode(bytes: Vec<u8>, key: &Key, checksum: &str) -> Result<Record, Flaw> {
    if digest(&bytes) != checksum {
        return Err(Flaw::Damaged);
    }
    let record = columns::decode(bytes)
        .map_err(|error| Flaw::Other(format!("has the right checksum, but is no result: {error}")))?;
    match record.job.key() {
        found if found == *key => Ok(record),
        found => Err(Flaw::Other(format!("holds the result of job {found}, expected {key}"))),
    }
}
