//! A folder of finished jobs, a file each.
//!
//! A file is called `<key>-<checksum>.parquet`: the key says which job it is, the checksum (SHA-256, cut to 128 bits)
//! what bytes it holds. It is written under a temporary name, brought to the disk, and renamed, so a name without
//! `.tmp` is a whole file unless the disk lost something, and then the checksum says so.

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
use crate::job::{Job, Key, Kind, digest, is_digest};
use crate::record::Record;

use older::Older;

pub use log::HostTime;

/// A folder of finished jobs.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    finished: BTreeMap<Key, PathBuf>,
    /// The versions whose results are looked up, in this order.
    simulators: Vec<String>,
    /// Finished jobs of those versions that are not this one.
    older: Older,
    /// Finished jobs by what readers call them, when they are looked up so.
    named: BTreeMap<Task, Key>,
}

/// Version, kind, workload, size and the machine's name.
type Task = (String, Kind, String, Size, String);

fn task(job: &Job) -> Task {
    (job.simulator.clone(), job.kind, job.workload.clone(), job.size, job.variant.clone())
}

/// What opening found that does not belong there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Files that are not what their name says; removed, so that their jobs are run again.
    pub corrupt: Vec<PathBuf>,
    /// What a killed writer left; removed.
    pub leftovers: Vec<PathBuf>,
}

impl Store {
    /// Opens a folder and removes what is not whole. A folder that is not there is an empty store.
    ///
    /// # Errors
    /// When the folder cannot be read or cleaned, or holds two different results of one job.
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
            if name.ends_with(TEMPORARY) {
                if is_abandoned(&path) {
                    remove(&path)?;
                    findings.leftovers.push(path);
                }
            } else if let Some((key, checksum)) = read_name(&name) {
                let bytes = fs::read(&path).map_err(|error| named(&path, &error))?;
                if digest(&bytes) != checksum {
                    remove(&path)?;
                    findings.corrupt.push(path);
                } else if let Some(other) = store.finished.insert(key, path.clone()) {
                    let (one, other) = (other.display(), path.display());
                    return Err(format!("{one} and {other} are different results of one job, expected one"));
                }
            }
        }
        Ok((store, findings))
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The versions of the simulator whose results are looked up, the first that has one: this one's alone, unless
    /// others were asked for.
    #[must_use]
    pub fn simulators(&self) -> &[String] {
        &self.simulators
    }

    /// From now on, results are those of another version of the simulator, or of `any`: then this one's come first.
    /// Machines and workloads must be the present ones all the same, but for values that an older version did not know.
    ///
    /// # Errors
    /// The store holds nothing of that version; what it holds.
    pub fn look_up(&mut self, version: &str) -> Result<(), String> {
        let records = self.keys().map(|key| self.get(key));
        let jobs: Vec<Job> = records
            .filter_map(Result::transpose)
            .map(|record| Ok(record?.job))
            .collect::<Result<_, String>>()?;
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

    /// From now on, a job whose machine had other values in the versions that are looked up is found by the names of its
    /// workload and machine: what a system came to then.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn look_up_by_name(&mut self) -> Result<(), String> {
        let records: Vec<Record> =
            self.keys().filter_map(|key| self.get(key).transpose()).collect::<Result<_, _>>()?;
        let jobs = records.into_iter().map(|record| record.job);
        let known = jobs.filter(|job| self.simulators.contains(&job.simulator));
        self.named = known.map(|job| (task(&job), job.key())).collect();
        Ok(())
    }

    /// Whether a job has finished.
    #[must_use]
    pub fn has(&self, key: &Key) -> bool {
        self.finished.contains_key(key)
    }

    /// The key under which a job has finished, in one of the versions that are looked up.
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

    /// The keys of the finished jobs, in order.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.finished.keys()
    }

    /// The sizes of the finished jobs' workloads.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn sizes(&self) -> Result<BTreeSet<Size>, String> {
        let records = self.keys().map(|key| self.get(key));
        records.filter_map(Result::transpose).map(|record| Ok(record?.job.size)).collect()
    }

    /// What a job measured; nothing when it has not finished.
    ///
    /// # Errors
    /// When its file cannot be read or is not what its name says.
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

    /// Looks again for a job that another process may have finished meanwhile.
    ///
    /// # Errors
    /// When the folder cannot be read, or holds two different results of one job.
    pub fn refresh(&mut self) -> Result<(), String> {
        let (store, _) = Store::open(&self.folder)?;
        self.finished = store.finished;
        Ok(())
    }
}

/// The file of a finished job in a folder, if it is there and whole. Looks at that file only: a store of thousands costs
/// a listing.
///
/// # Errors
/// When the folder or the file cannot be read.
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

/// Adds a record to the store in a folder; safe to repeat, and beside other writers. Gives its file.
///
/// # Errors
/// When the disk refuses.
pub fn put(folder: &Path, record: &Record) -> Result<PathBuf, String> {
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    let bytes = columns::encode(record);
    let path = folder.join(format!("{}-{}.parquet", record.job.key(), digest(&bytes)));
    // Whoever opens the store between the creation and the lock takes the file for a leftover: then once more.
    write(&path, &bytes).or_else(|_| write(&path, &bytes)).map_err(|error| named(&path, &error))?;
    Ok(path)
}

/// How temporary names end.
const TEMPORARY: &str = ".tmp";

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}{TEMPORARY}", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let mut file = File::create(&temporary)?;
    // Held as long as the file is open: says that its writer lives.
    file.lock()?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    // The rename is on the disk when the folder is.
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

/// Whether nobody writes the file any more.
fn is_abandoned(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

fn remove(path: &Path) -> Result<(), String> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(named(path, &error)),
        _ => Ok(()),
    }
}

/// Key and checksum of a file's name.
fn read_name(name: &str) -> Option<(Key, String)> {
    let (key, checksum) = name.strip_suffix(".parquet")?.split_once('-')?;
    is_digest(checksum).then_some(())?;
    Some((Key::read(key)?, checksum.to_owned()))
}

fn named(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
