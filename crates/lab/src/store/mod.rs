//! A folder of finished jobs, one file each, or packed into a few.
//!
//! A file is named `<key>-<checksum>.parquet`. The key identifies the job; the checksum (SHA-256, cut to 128
//! bits) covers the file's bytes. A file is written under a temporary name, synced to disk and renamed, so a
//! file without the suffix `.tmp` is complete unless the disk lost data, which the checksum reveals.
//!
//! Anything may lie in the folder. What has a name of the store and is not what its name says is reported and passed
//! over; only regular files are opened, and none is read without bound.

mod announcement;
mod census;
mod claim;
pub mod columns;
mod compact;
mod contents;
mod difference;
mod failure;
pub(crate) mod file;
mod findings;
mod log;
mod name;
mod older;
mod pack;
mod result;
mod run;
mod standing;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use strata_gpu::machine::identity::digest;
use strata_workloads::Size;

use crate::SIMULATOR;
use crate::job::{Job, Key, Kind};
use crate::record::Record;

use contents::{Contents, Place, Source};
use name::Name;
use older::Older;
use pack::Pack;
use result::{Flaw, RESULT_BYTES};

pub use announcement::{Announcement, Planned, Sweep, announce};
pub use census::Census;
pub use claim::{Claim, check_writable, claim};
pub use compact::{Compacted, compact};
pub use difference::Difference;
pub use failure::{Failure, fail};
pub use findings::{Finding, Findings};
pub use log::HostTime;
pub use run::Run;
pub use standing::Standing;

/// A folder of finished jobs.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    finished: BTreeMap<Key, Place>,
    /// Jobs with results that contradict each other, and which these are.
    contradictions: BTreeMap<Key, String>,
    failures: BTreeMap<Key, Failure>,
    /// Sweeps that go on, by what tells them apart.
    sweeps: BTreeMap<String, Arc<Sweep>>,
    /// Versions of the simulator whose results are looked up, in order.
    simulators: Vec<String>,
    /// Finished jobs of those versions other than this one.
    older: Arc<Older>,
    /// Finished jobs by the names of workload, machine and system, for lookups by name.
    named: BTreeMap<Task, Named>,
}

/// Version, kind, workload, size and name of the machine.
type Task = (String, Kind, String, Size, String);

/// A finished job, with the name of its system where its record has one.
type Named = (Option<String>, Key);

fn task(job: &Job) -> Task {
    (job.simulator.clone(), job.kind, job.workload.clone(), job.size, job.variant.clone())
}

impl Store {
    /// Opens a folder, which stays as it is. A missing folder is an empty store. Whatever lies in it and is no result
    /// is a finding, not an error, and is never waited for or read without bound.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn open(folder: &Path) -> Result<(Store, Findings), String> {
        let mut store = Store {
            folder: folder.to_owned(),
            finished: BTreeMap::new(),
            contradictions: BTreeMap::new(),
            failures: BTreeMap::new(),
            sweeps: BTreeMap::new(),
            simulators: vec![SIMULATOR.to_owned()],
            older: Arc::default(),
            named: BTreeMap::new(),
        };
        let findings = store.read()?;
        Ok((store, findings))
    }

    fn read(&mut self) -> Result<Findings, String> {
        let Contents { results, contradictions, failures, sweeps, mut findings, .. } =
            Contents::read(&self.folder, &self.finished)?;
        (self.finished, self.contradictions, self.failures) = (results, contradictions, failures);
        let known = std::mem::take(&mut self.sweeps);
        for (id, path) in sweeps {
            // A note never changes.
            let read =
                known.get(&id).map_or_else(|| Sweep::read(&path, &id).map(Arc::new), |of| Ok(of.clone()));
            match read {
                Ok(sweep) => drop(self.sweeps.insert(id, sweep)),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => findings.passed_over.push(Finding { path, reason: error.to_string() }),
            }
        }
        Ok(findings)
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
        let held: BTreeSet<String> = self.runs().map(|(_, run)| run.job.simulator.clone()).collect();
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
        let is_wanted =
            |run: &Run| run.job.simulator != SIMULATOR && self.simulators.contains(&run.job.simulator);
        let mut older = Older::default();
        for (key, _) in self.runs().filter(|(_, run)| is_wanted(run)) {
            if let Some(record) = self.get(key)? {
                older.add(&record.job);
            }
        }
        self.older = Arc::new(older);
        Ok(())
    }

    /// Also finds results by the names of workload, machine and system from now on, if values of these have come or
    /// changed since. The results are those that the system had then.
    pub fn look_up_by_name(&mut self) {
        let is_wanted = |job: &Job| !job.executed && self.simulators.contains(&job.simulator);
        let known = self.runs().filter(|(_, run)| is_wanted(&run.job));
        self.named =
            known.map(|(key, run)| (task(&run.job), (run.job.system.clone(), key.clone()))).collect();
    }

    /// Whether the store holds the result of a job, whole. Reads the result if it is in a pack, because opening the
    /// store did not.
    #[must_use]
    pub fn has(&self, key: &Key) -> bool {
        self.finished.get(key).is_some_and(|place| match &place.source {
            Source::File(_) => true,
            Source::Pack(pack) => pack.bytes_of(key).is_ok(),
        })
    }

    /// The key of a job's result, from one of the versions that are looked up.
    #[must_use]
    pub fn find(&self, job: &Job) -> Option<Key> {
        self.find_same(job).or_else(|| self.find_named(job))
    }

    /// The key of the result of a job whose machine and program are the same, whatever the machine's file has gained.
    #[must_use]
    pub fn find_same(&self, job: &Job) -> Option<Key> {
        let jobs: Vec<Job> = self.in_versions(job).collect();
        let same = jobs.iter().map(Job::key).find(|key| self.finished.contains_key(key));
        same.or_else(|| {
            let older = jobs.iter().filter_map(|job| self.older.find(job)).max();
            older.map(|(_, key)| key.clone())
        })
    }

    /// The key of the result of a job with the same names, once [`Store::look_up_by_name`] has been called.
    #[must_use]
    pub fn find_named(&self, job: &Job) -> Option<Key> {
        let mut found = self.in_versions(job).filter_map(|job| self.named.get(&task(&job)));
        let (_, key) = found.find(|(system, _)| system.is_none() || *system == job.system)?;
        Some(key.clone())
    }

    /// A job in each of the versions that are looked up.
    fn in_versions(&self, job: &Job) -> impl Iterator<Item = Job> {
        self.simulators.iter().map(|simulator| Job { simulator: simulator.clone(), ..job.clone() })
    }

    /// Whether it says nothing of any job.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.finished.is_empty() && self.failures.is_empty() && self.contradictions.is_empty()
    }

    /// Keys of the finished jobs, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.finished.keys()
    }

    /// The finished jobs, sorted by key.
    pub fn runs(&self) -> impl Iterator<Item = (&Key, &Run)> {
        self.finished.iter().map(|(key, place)| (key, &*place.run))
    }

    /// What a list shows of a finished job.
    #[must_use]
    pub fn run(&self, key: &Key) -> Option<&Run> {
        self.finished.get(key).map(|place| &*place.run)
    }

    /// When a finished job's result was stored, where its file says it.
    #[must_use]
    pub fn written(&self, key: &Key) -> Option<SystemTime> {
        self.finished.get(key)?.written
    }

    /// The sweeps that go on, sorted by their names.
    pub fn sweeps(&self) -> impl Iterator<Item = &Arc<Sweep>> {
        self.sweeps.values()
    }

    /// Jobs that failed and have no result, sorted by key.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.failures.iter().filter(|(key, _)| !self.finished.contains_key(key)).map(|(_, failure)| failure)
    }

    /// The failure of a job that has no result, if one is noted.
    #[must_use]
    pub fn failure(&self, key: &Key) -> Option<&Failure> {
        self.failures.get(key).filter(|_| !self.finished.contains_key(key))
    }

    /// Why the store has no result of a job: it failed, or has not run yet.
    #[must_use]
    pub fn why_missing(&self, job: &Job) -> String {
        let keys = || self.in_versions(job).map(|job| job.key());
        if let Some(reason) = keys().find_map(|key| self.contradictions.get(&key)) {
            return reason.clone();
        }
        match keys().find_map(|key| self.failures.get(&key)) {
            Some(failure) => format!("failed: {}", failure.reason),
            None => "not run yet".into(),
        }
    }

    /// Sizes of the finished jobs of workloads.
    #[must_use]
    pub fn sizes(&self) -> BTreeSet<Size> {
        let of_workloads = self.runs().filter(|(_, run)| !run.job.executed && run.job.launch_file.is_none());
        of_workloads.map(|(_, run)| run.job.size).collect()
    }

    /// The record of a job; `None` if the job has not finished.
    ///
    /// # Errors
    /// If the file has changed since the store was opened.
    pub fn get(&self, key: &Key) -> Result<Option<Record>, String> {
        let Some(place) = self.finished.get(key) else { return Ok(None) };
        match place.read(key) {
            Ok(record) => Ok(Some(record)),
            // It may have been packed since.
            Err(Flaw::Gone) => match finished(&self.folder, key)? {
                Some((_, record)) => Ok(Some(record)),
                None => Err(format!("{}: is gone", place.path(key).display())),
            },
            Err(flaw) => Err(format!("{}: {flaw}", place.path(key).display())),
        }
    }

    /// Looks again for results that other processes may have added, and for failures.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn refresh(&mut self) -> Result<(), String> {
        self.read().map(drop)
    }
}

/// The record of a finished job in a folder and where it lies, if it is there and whole. Reads only the job's files
/// and the indexes of packs; in a store of thousands it costs one directory listing.
///
/// # Errors
/// If the folder cannot be read, or holds two results of the job with different numbers.
pub fn finished(folder: &Path, key: &Key) -> Result<Option<(PathBuf, Record)>, String> {
    let mut finished: Option<(PathBuf, Record)> = None;
    for (path, name) in contents::list(folder)? {
        let (path, record) = match name {
            Name::Result(found, checksum) if found == *key => {
                let record = result::read(&path, key, &checksum);
                (path, record)
            }
            Name::Pack(digest) => match Pack::open(&path, &digest) {
                Ok(pack) if pack.results.contains_key(key) => {
                    (path.join(pack::entry(key, &pack.results[key])), pack.read(key))
                }
                _ => continue,
            },
            _ => continue,
        };
        let Ok(record) = record else { continue };
        match &finished {
            Some((other, first)) if first.rows != record.rows => {
                let (one, other) = (other.display(), path.display());
                return Err(format!("{one} and {other} are different results of one job, expected one"));
            }
            Some(_) => {}
            None => finished = Some((path, record)),
        }
    }
    Ok(finished)
}

/// The files of a job's results in a folder, with the checksums that their names promise.
fn of_job(folder: &Path, key: &Key) -> Result<Vec<(PathBuf, String)>, String> {
    let found = contents::list(folder)?.into_iter().filter_map(|(path, name)| match name {
        Name::Result(found, checksum) if found == *key => Some((path, checksum)),
        _ => None,
    });
    Ok(found.collect())
}

/// Adds a record to the store in a folder and returns the file's path. Safe to repeat, and safe beside other
/// writers. Damaged results of the job go, and so does the note of its failure.
///
/// # Errors
/// If the file cannot be written, or something else lies in its place.
pub fn put(folder: &Path, record: &Record) -> Result<PathBuf, String> {
    std::fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    let (key, bytes) = (record.job.key(), columns::encode(record));
    if bytes.len() as u64 > RESULT_BYTES {
        let folder = folder.display();
        return Err(format!(
            "{folder}: found a result of {} bytes, expected at most {RESULT_BYTES}",
            bytes.len()
        ));
    }
    let checksum = digest(&bytes);
    let path = folder.join(pack::entry(&key, &checksum));
    if let Err(Flaw::Other(reason)) = result::read(&path, &key, &checksum) {
        return Err(format!("{}: {reason}", path.display()));
    }
    file::write(&path, &bytes).map_err(|error| named(&path, &error))?;
    for (path, checksum) in of_job(folder, &key)? {
        if result::is_damaged(&path, &checksum) {
            file::remove(&path).map_err(|error| named(&path, &error))?;
        }
    }
    failure::forget(folder, &key);
    Ok(path)
}

fn named(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
