//! Sweeps under way: a file `ID.sweep` for each, which its process holds locked until it ends.
//!
//! The file says who sweeps what. How far a sweep is, is not written anywhere: the store's results and failures say it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use strata_gpu::machine::identity::digest;

use super::{file, name, named};
use crate::job::{Job, Key};
use crate::sweep::{describe, work};

/// Name of the format.
const FORMAT: &str = "strata-sweep-1";

/// What a file begins with.
const HEAD: &str = "format = \"strata-sweep-1\"\n";

/// Most bytes of a file: those of a million jobs.
const BYTES: u64 = 256 << 20;

/// A sweep that this process runs. Dropping it takes the note back. When the process is killed the lock is free, and whoever
/// next opens the store to write removes the file.
#[derive(Debug)]
pub struct Announcement {
    path: PathBuf,
    /// Locked while the sweep lives.
    file: File,
}

impl Drop for Announcement {
    fn drop(&mut self) {
        if file::is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Says in a store that a sweep over some jobs begins. `command` is what asked for it, and `is_finished` tells which jobs have
/// results already.
///
/// # Errors
/// If the store's folder cannot be written.
pub fn announce<'a>(
    folder: &Path,
    command: &[String],
    jobs: impl Iterator<Item = &'a Job>,
    is_finished: impl Fn(&Key) -> bool,
) -> Result<Announcement, String> {
    let jobs = jobs.map(|job| {
        let key = job.key();
        // Numbers of TOML have a sign.
        let work = work(job).min(i64::MAX as u64);
        Part { finished: is_finished(&key), key: key.to_string(), job: describe(job), work }
    });
    let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let note = Note {
        format: FORMAT.into(),
        command: command.to_vec(),
        host: host(),
        process: std::process::id(),
        started: started.as_secs(),
        jobs: jobs.collect(),
    };
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let id = digest(format!("{} {} {} {number}", note.host, note.process, started.as_nanos()).as_bytes());
    let path = folder.join(format!("{id}{}", name::SWEEP));
    let text = toml::to_string(&note).expect("texts and numbers are TOML");
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    let file = file::write_and_hold(&path, text.as_bytes()).map_err(|error| named(&path, &error))?;
    Ok(Announcement { path, file })
}

/// The host's name; empty if it does not say.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    format: String,
    command: Vec<String>,
    host: String,
    process: u32,
    /// In seconds since 1970.
    started: u64,
    jobs: Vec<Part>,
}

/// A job of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    key: String,
    job: String,
    work: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    finished: bool,
}

/// A sweep that some process runs.
#[derive(Debug)]
pub struct Sweep {
    /// What tells it from other sweeps: 32 hexadecimal digits.
    pub id: String,
    /// The command line that asked for it.
    pub command: Vec<String>,
    /// The host that runs it.
    pub host: String,
    /// Its process there.
    pub process: u32,
    /// When it began, by its host's clock.
    pub started: SystemTime,
    /// When its file was written, by the clock of the file's host.
    pub written: SystemTime,
    /// Its jobs, each once.
    pub jobs: Vec<Planned>,
    path: PathBuf,
}

/// A job of a sweep.
#[derive(Debug)]
pub struct Planned {
    /// The job's key.
    pub key: Key,
    /// The job, for readers: workload, size and machine.
    pub job: String,
    /// Expected work in thread-instructions, at least 1.
    pub work: u64,
    /// Whether the store had its result before the sweep.
    pub finished: bool,
}

impl Sweep {
    /// Reads a note.
    ///
    /// # Errors
    /// What lies there instead.
    pub(super) fn read(path: &Path, id: &str) -> io::Result<Sweep> {
        let wrong = |found: String| io::Error::other(format!("{found}, expected the note of a sweep"));
        let written = file::open_to_read(path)?.metadata()?.modified()?;
        let text = String::from_utf8(file::read(path, BYTES)?).map_err(|error| wrong(error.to_string()))?;
        let note: Note = toml::from_str(&text).map_err(|error| wrong(error.message().trim().to_owned()))?;
        if note.format != FORMAT {
            return Err(wrong(format!("format: found `{}`", note.format)));
        }
        let started = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(note.started));
        let started = started.ok_or_else(|| wrong(format!("started: found {}", note.started)))?;
        let planned = |Part { key, job, work, finished }: Part| match Key::read(&key) {
            Some(key) => Ok(Planned { key, job, work: work.max(1), finished }),
            None => Err(wrong(format!("key: found `{key}`"))),
        };
        let jobs = note.jobs.into_iter().map(planned).collect::<io::Result<_>>()?;
        let Note { command, host, process, .. } = note;
        Ok(Sweep { id: id.to_owned(), command, host, process, started, written, jobs, path: path.to_owned() })
    }

    /// Whether its process still lives.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        file::open_to_read(&self.path).is_ok_and(|file| is_held(&file))
    }
}

/// What lies under a sweep's name.
pub(super) enum Found {
    /// A living process holds it.
    Held,
    /// Its process is gone.
    Left,
    /// Somebody else's file.
    Other,
}

/// Looks at a note without reading all of it.
///
/// # Errors
/// If it cannot be opened or read.
pub(super) fn look(path: &Path) -> io::Result<Found> {
    use std::os::unix::fs::FileExt;
    let file = file::open_to_read(path)?;
    let mut head = [0; HEAD.len()];
    match file.read_exact_at(&mut head, 0) {
        Ok(()) if head == *HEAD.as_bytes() => {}
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error),
        _ => return Ok(Found::Other),
    }
    Ok(if is_held(&file) { Found::Held } else { Found::Left })
}

/// Whether a process holds a file locked. Readers that ask at the same time do not see each other.
fn is_held(file: &File) -> bool {
    match file.try_lock_shared() {
        Ok(()) => false,
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
    }
}
