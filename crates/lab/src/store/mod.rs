//! A folder of finished jobs, one file each.
//!
//! A file is named `<key>-<checksum>.parquet`. The key identifies the job; the checksum (SHA-256, cut to 128
//! bits) covers the file's bytes. A file is written under a temporary name, synced to disk and renamed, so a
//! file without the suffix `.tmp` is complete unless the disk lost data, which the checksum reveals.

mod claim;
pub mod columns;
mod log;
mod older;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use strata_workloads::Size;

use crate::SIMULATOR;
use strata_gpu::machine::identity::digest;

use crate::job::{Job, Key, Kind, is_digest};
use crate::record::{Record, Row};

use older::Older;

pub use claim::{Claim, check_writable, claim};
pub use log::HostTime;

/// A folder of finished jobs.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    finished: BTreeMap<Key, PathBuf>,
    /// Versions of the simulator whose results are looked up, in order.
    simulators: Vec<String>,
    /// Finished jobs of those versions other than this one.
    older: Older,
    /// Finished jobs by workload and machine name, for lookups by name.
    named: BTreeMap<Task, Key>,
}

/// Version, kind, workload, size and name of the machine.
type Task = (String, Kind, String, Size, String);

fn task(job: &Job) -> Task {
    (job.simulator.clone(), job.kind, job.workload.clone(), job.size, job.variant.clone())
}

/// Problems found when opening a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Files that cannot be read, or whose contents do not match their name. Their jobs count as not run.
    pub corrupt: Vec<PathBuf>,
    /// Files that a killed writer left behind.
    pub leftovers: Vec<PathBuf>,
}

impl Findings {
    /// Removes the files, so that their jobs can run again.
    ///
    /// # Errors
    /// If one cannot be removed.
    pub fn clean(&self) -> Result<(), String> {
        self.corrupt.iter().chain(&self.leftovers).try_for_each(|path| remove(path))
    }
}

impl Store {
    /// Opens a folder, which stays as it is. A missing folder is an empty store.
    ///
    /// # Errors
    /// If the folder cannot be read, or holds two results of one job with different numbers.
    pub fn open(folder: &Path) -> Result<(Store, Findings), String> {
        let mut store = Store {
            folder: folder.to_owned(),
            finished: BTreeMap::new(),
            simulators: vec![SIMULATOR.to_owned()],
            older: Older::default(),
            named: BTreeMap::new(),
        };
        let mut findings = Findings::default();
        if !folder.exists() {
            return Ok((store, findings));
        }
        let entries = fs::read_dir(folder).map_err(|error| named(folder, &error))?;
        let mut paths = Vec::new();
        for entry in entries {
            paths.push(entry.map_err(|error| named(folder, &error))?.path());
        }
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.ends_with(TEMPORARY) || name.ends_with(claim::SUFFIX) {
                if is_abandoned(&path) {
                    findings.leftovers.push(path);
                }
            } else if let Some((key, checksum)) = read_name(&name) {
                if !fs::read(&path).is_ok_and(|bytes| digest(&bytes) == checksum) {
                    findings.corrupt.push(path);
                } else if let Some(other) = store.finished.insert(key, path.clone())
                    && rows(&other)? != rows(&path)?
                {
                    let (one, other) = (other.display(), path.display());
                    return Err(format!("{one} and {other} are different results of one job, expected one"));
                }
            }
        }
        Ok((store, findings))
    }

    /// The folder of the store.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Versions of the simulator whose results are looked up; the first that has a result wins. By default,
    /// only this version.
    #[must_use]
    pub fn simulators(&self) -> &[String] {
        &self.simulators
    }

    /// Looks up results of another version of the simulator from now on, or of `any`, where this version
    /// comes first. Workloads and machines must still match the present ones, except for values that the
    /// older version did not have.
    ///
    /// # Errors
    /// If the store holds no results of that version; the message lists the versions it holds.
    pub fn look_up(&mut self, version: &str) -> Result<(), String> {
        let jobs = self.jobs()?;
        let held: BTreeSet<String> = jobs.iter().map(|job| job.simulator.clone()).collect();
        self.simulators = match version {
            "any" => {
                let others = held.into_iter().filter(|version| version != SIMULATOR);
                std::iter::once(SIMULATOR.to_owned()).chain(others).collect()
            }
            _ if held.contains(version) => vec![version.to_owned()],
            _ => {
                let held = if held.is_empty() {
                    "nothing".into()
                } else {
                    held.into_iter().collect::<Vec<_>>().join(", ")
                };
                let folder = self.folder.display();
                return Err(format!(
                    "{folder}: simulator: found `{version}`, expected `any` or what the store holds: {held}"
                ));
            }
        };
        self.older = Older::default();
        let others = jobs.iter().filter(|job| job.simulator != SIMULATOR);
        others.filter(|job| self.simulators.contains(&job.simulator)).for_each(|job| self.older.add(job));
        Ok(())
    }

    /// Also finds results by the names of workload and machine from now on, if the machine's values have
    /// changed since. The results are those that the system had then.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn look_up_by_name(&mut self) -> Result<(), String> {
        let mut known = self.jobs()?;
        known.retain(|job| !job.executed && self.simulators.contains(&job.simulator));
        self.named = known.iter().map(|job| (task(job), job.key())).collect();
        Ok(())
    }

    /// Whether the store holds the result of a job.
    #[must_use]
    pub fn has(&self, key: &Key) -> bool {
        self.finished.contains_key(key)
    }

    /// The key of a job's result, from one of the versions that are looked up.
    #[must_use]
    pub fn find(&self, job: &Job) -> Option<Key> {
        let versions = self.simulators.iter();
        let jobs: Vec<Job> =
            versions.map(|simulator| Job { simulator: simulator.clone(), ..job.clone() }).collect();
        let same = jobs.iter().map(Job::key).find(|key| self.has(key));
        same.or_else(|| {
            let older = jobs.iter().filter_map(|job| self.older.find(job)).max().map(|(_, key)| key);
            older.or_else(|| jobs.iter().find_map(|job| self.named.get(&task(job)))).cloned()
        })
    }

    /// Keys of the finished jobs, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.finished.keys()
    }

    /// Sizes of the finished jobs of workloads.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn sizes(&self) -> Result<BTreeSet<Size>, String> {
        let jobs = self.jobs()?;
        let of_workloads = jobs.iter().filter(|job| !job.executed && job.launch_file.is_none());
        Ok(of_workloads.map(|job| job.size).collect())
    }

    /// The finished jobs, sorted by key.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn jobs(&self) -> Result<Vec<Job>, String> {
        let records = self.keys().filter_map(|key| self.get(key).transpose());
        records.map(|record| Ok(record?.job)).collect()
    }

    /// The record of a job; `None` if the job has not finished.
    ///
    /// # Errors
    /// If the file cannot be read or does not match its name.
    pub fn get(&self, key: &Key) -> Result<Option<Record>, String> {
        let Some(path) = self.finished.get(key) else { return Ok(None) };
        let bytes = fs::read(path).map_err(|error| named(path, &error))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if read_name(&name).is_none_or(|(_, checksum)| digest(&bytes) != checksum) {
            return Err(format!("{}: its bytes have changed", path.display()));
        }
        let record = columns::decode(bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        if record.job.key() != *key {
            return Err(format!("{}: holds job {}, expected {key}", path.display(), record.job.key()));
        }
        Ok(Some(record))
    }

    /// Looks again for results that other processes may have added.
    ///
    /// # Errors
    /// If the folder cannot be read, or holds two results of one job with different numbers.
    pub fn refresh(&mut self) -> Result<(), String> {
        let (store, _) = Store::open(&self.folder)?;
        self.finished = store.finished;
        Ok(())
    }
}

/// Path of a finished job's file in a folder, if the file exists and is complete. Reads only that file; in a
/// store of thousands it costs one directory listing.
///
/// # Errors
/// If the folder or the file cannot be read.
pub fn finished(folder: &Path, key: &Key) -> Result<Option<PathBuf>, String> {
    if !folder.exists() {
        return Ok(None);
    }
    for entry in fs::read_dir(folder).map_err(|error| named(folder, &error))? {
        let path = entry.map_err(|error| named(folder, &error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some((found, checksum)) = read_name(&name)
            && found == *key
            && digest(&fs::read(&path).map_err(|error| named(&path, &error))?) == checksum
        {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Adds a record to the store in a folder and returns the file's path. Safe to repeat, and safe beside other
/// writers.
///
/// # Errors
/// If the file cannot be written.
pub fn put(folder: &Path, record: &Record) -> Result<PathBuf, String> {
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    let bytes = columns::encode(record);
    let path = folder.join(format!("{}-{}.parquet", record.job.key(), digest(&bytes)));
    // Another process that opens the store between creation and locking takes the file for a leftover and
    // removes it; try once more.
    write(&path, &bytes).or_else(|_| write(&path, &bytes)).map_err(|error| named(&path, &error))?;
    Ok(path)
}

/// The numbers in a finished job's file.
///
/// # Errors
/// If the file cannot be read.
pub fn rows(path: &Path) -> Result<Vec<Row>, String> {
    let bytes = fs::read(path).map_err(|error| named(path, &error))?;
    Ok(columns::decode(bytes).map_err(|error| format!("{}: {error}", path.display()))?.rows)
}

/// Suffix of temporary names.
const TEMPORARY: &str = ".tmp";

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}{TEMPORARY}", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let mut file = File::create(&temporary)?;
    let mut whole = || {
        // The lock is held while the file is open and shows that the writer is alive.
        file.lock()?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    whole().inspect_err(|_| drop(fs::remove_file(&temporary)))?;
    // The rename is durable once the folder is synced.
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

/// Whether the file's writer is gone.
fn is_abandoned(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

fn remove(path: &Path) -> Result<(), String> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(named(path, &error)),
        _ => Ok(()),
    }
}

/// Parses the key and the checksum in a file name.
fn read_name(name: &str) -> Option<(Key, String)> {
    let (key, checksum) = name.strip_suffix(".parquet")?.split_once('-')?;
    is_digest(checksum).then_some(())?;
    Some((Key::read(key)?, checksum.to_owned()))
}

fn named(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
