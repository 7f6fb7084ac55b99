//! A submission: the folder in the store that holds what a scheduler's tasks run and say.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use strata_gpu::machine::identity::digest;

use super::batch;
use crate::job::{Job, Key};
use crate::store::file;

/// Folder of a store that holds submissions.
pub const FOLDER: &str = "submissions";

/// Locked by who follows the submission.
const LOCK: &str = "lock";
/// The keys of its jobs, a line each.
const KEYS: &str = "keys";
/// What the scheduler calls it.
const NAME: &str = "name";
/// What its tasks run.
const SCRIPT: &str = "task.sh";
const BATCHES: &str = "batches";
/// What its tasks say.
const LOGS: &str = "logs";

/// Most bytes of a file that is read again.
const BYTES: u64 = 64 << 20;

/// Jobs that a scheduler has been given, or will be.
#[derive(Debug)]
pub struct Submission {
    /// Its folder. The last part of the path is unique.
    pub folder: PathBuf,
    /// How many tasks it has: one a batch.
    pub tasks: usize,
    /// The jobs that they run.
    pub keys: BTreeSet<Key>,
    /// What the scheduler calls it, once it has been submitted.
    pub name: Option<String>,
    _lock: File,
}

fn named(path: &Path) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{}: {error}", path.display())
}

impl Submission {
    /// Writes the folder of a submission for a kind of scheduler, with a script for its tasks.
    ///
    /// # Errors
    /// If the folder cannot be written, or a launch file cannot be read any more.
    pub fn write(
        store: &Path,
        kind: &str,
        script: &str,
        batches: &[Vec<&Job>],
    ) -> Result<Submission, String> {
        let folder = create(&store.join(FOLDER), kind)?;
        let submission = Submission::fill(&folder, script, batches);
        submission.inspect_err(|_| drop(fs::remove_dir_all(&folder)))
    }

    fn fill(folder: &Path, script: &str, batches: &[Vec<&Job>]) -> Result<Submission, String> {
        // Locked before there are keys, by which others know a submission.
        let lock = lock(folder).map_err(named(folder))?.ok_or("a new folder is locked")?;
        for part in [BATCHES, LOGS] {
            let part = folder.join(part);
            fs::create_dir(&part).map_err(named(&part))?;
        }
        let put = |path: PathBuf, text: &str| file::write(&path, text.as_bytes()).map_err(named(&path));
        for (number, jobs) in batches.iter().enumerate() {
            put(folder.join(BATCHES).join(format!("{number}.toml")), &batch::text(jobs)?)?;
        }
        put(folder.join(SCRIPT), script)?;
        let keys: BTreeSet<Key> = batches.iter().flatten().map(|job| job.key()).collect();
        put(folder.join(KEYS), &keys.iter().map(|key| format!("{key}\n")).collect::<String>())?;
        Ok(Submission { folder: folder.to_owned(), tasks: batches.len(), keys, name: None, _lock: lock })
    }

    /// This user's submissions of a kind that nobody follows any more.
    ///
    /// # Errors
    /// If their folder cannot be read.
    pub fn abandoned(store: &Path, kind: &str) -> Result<Vec<Submission>, String> {
        let folder = store.join(FOLDER);
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
            entries => entries.map_err(named(&folder))?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(named(&folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_kind = name.strip_prefix(kind).is_some_and(|rest| rest.starts_with('-'));
            let is_own = || {
                let uid = rustix::process::geteuid().as_raw();
                fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir() && found.uid() == uid)
            };
            if is_kind && is_own() {
                found.extend(Submission::read(path));
            }
        }
        found.sort_by(|one, other| one.folder.cmp(&other.folder));
        Ok(found)
    }

    /// Takes over a folder, unless somebody follows it or it is not that of a submission.
    fn read(folder: PathBuf) -> Option<Submission> {
        let text = |name: &str| String::from_utf8(file::read(&folder.join(name), BYTES).ok()?).ok();
        let keys = text(KEYS)?.lines().map(Key::read).collect::<Option<_>>()?;
        let tasks = fs::read_dir(folder.join(BATCHES)).map_or(0, Iterator::count);
        let lock = lock(&folder).ok()??;
        let name = text(NAME);
        Some(Submission { folder, tasks, keys, name, _lock: lock })
    }

    /// Notes what the scheduler calls it.
    ///
    /// # Errors
    /// If the note cannot be written.
    pub fn submitted(&mut self, name: String) -> Result<(), String> {
        let path = self.folder.join(NAME);
        file::write(&path, name.as_bytes()).map_err(named(&path))?;
        self.name = Some(name);
        Ok(())
    }

    /// The last part of its path, which no other submission has.
    #[must_use]
    pub fn id(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The script of its tasks.
    #[must_use]
    pub fn script(&self) -> PathBuf {
        self.folder.join(SCRIPT)
    }

    /// Where its tasks' output goes.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.folder.join(LOGS)
    }

    /// Takes the batches back: tasks that have not begun find none, and tasks that run see that theirs is gone and end.
    pub fn withdraw(&self) {
        let _ = fs::remove_dir_all(self.folder.join(BATCHES));
    }

    /// Removes the folder, or all of it but the tasks' output. Returns where that is, if it says anything.
    pub fn close(self, keeps_logs: bool) -> Option<PathBuf> {
        self.withdraw();
        let logs = self.logs();
        let says = |entry: fs::DirEntry| entry.metadata().is_ok_and(|found| found.len() > 0);
        if keeps_logs && fs::read_dir(&logs).is_ok_and(|entries| entries.flatten().any(says)) {
            for name in [KEYS, NAME, SCRIPT, LOCK] {
                let _ = fs::remove_file(self.folder.join(name));
            }
            return Some(logs);
        }
        // A task may be about to end there. What stays is no submission: its keys are gone.
        let _ = fs::remove_file(self.folder.join(KEYS));
        let _ = fs::remove_dir_all(&self.folder);
        let _ = self.folder.parent().map(fs::remove_dir);
        None
    }
}

/// A new folder that begins with `kind`.
fn create(parent: &Path, kind: &str) -> Result<PathBuf, String> {
    for attempt in 0..100 {
        // Again each time: another submission that ends removes the folder when it is empty.
        fs::create_dir_all(parent).map_err(named(parent))?;
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let unique = digest(format!("{host} {} {now} {attempt}", std::process::id()).as_bytes());
        let folder = parent.join(format!("{kind}-{}", &unique[..12]));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if [ErrorKind::AlreadyExists, ErrorKind::NotFound].contains(&error.kind()) => {}
            Err(error) => return Err(named(&folder)(error)),
        }
    }
    Err(format!("{}: found every name taken", parent.display()))
}

/// Locks a folder; `None` if somebody has.
fn lock(folder: &Path) -> std::io::Result<Option<File>> {
    let file = file::open(&folder.join(LOCK), OpenOptions::new().create(true).append(true))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}
