//! Finds out what lies in a store's folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use strata_gpu::machine::identity::digest;

use super::claim;
use super::failure::{self, Failure};
use super::file;
use super::findings::{Finding, Findings};
use super::name::Name;
use super::pack::{self, Pack};
use super::run::Run;
use super::{columns, named};
use crate::job::Key;
use crate::record::Record;

/// Most bytes of a result. A run with a million launches stays far below.
pub const RESULT_BYTES: u64 = 256 << 20;

/// What the file of a result ends with, as every Parquet file.
const END: &[u8] = b"PAR1";

/// What a store's folder holds.
#[derive(Debug, Default)]
pub struct Contents {
    /// The finished jobs.
    pub results: BTreeMap<Key, Place>,
    /// The packs among the files, sorted by path.
    pub packs: Vec<Arc<Pack>>,
    /// Jobs with results that contradict each other, and which these are.
    pub contradictions: BTreeMap<Key, String>,
    /// Jobs that failed.
    pub failures: BTreeMap<Key, Failure>,
    /// Everything else.
    pub findings: Findings,
    /// Files of results that say the same as another of their job.
    repeated: Vec<(Key, PathBuf)>,
    /// Whether something was gone when it was to be read.
    is_outdated: bool,
}

/// Where a result lies.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file that holds it.
    pub source: Source,
    /// The checksum of its bytes.
    pub checksum: String,
    /// Their number; in a pack, the mean of its results.
    pub size: u64,
    /// What a list shows of it.
    pub run: Arc<Run>,
}

/// What holds a result.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file of its own.
    File(PathBuf),
    /// A file of many.
    Pack(Arc<Pack>),
}

impl Place {
    /// Reads the result.
    ///
    /// # Errors
    /// What is there instead.
    pub fn read(&self, key: &Key) -> Result<Record, Flaw> {
        match &self.source {
            Source::File(path) => read_result(path, key, &self.checksum),
            Source::Pack(pack) => pack.read(key),
        }
    }

    /// The bytes of the result's file.
    ///
    /// # Errors
    /// If they are not those of its checksum.
    pub fn bytes(&self, key: &Key) -> Result<Vec<u8>, Flaw> {
        match &self.source {
            Source::File(path) => {
                let bytes = file::read(path, RESULT_BYTES)?;
                if digest(&bytes) == self.checksum { Ok(bytes) } else { Err(Flaw::Damaged) }
            }
            Source::Pack(pack) => pack.bytes_of(key),
        }
    }

    /// Where it lies: its file, or its name within a pack.
    pub fn path(&self, key: &Key) -> PathBuf {
        match &self.source {
            Source::File(path) => path.clone(),
            Source::Pack(pack) => pack.path.join(pack::entry(key, &self.checksum)),
        }
    }

    /// Whether a pack holds it.
    pub fn is_in(&self, pack: &Arc<Pack>) -> bool {
        matches!(&self.source, Source::Pack(other) if other.path == pack.path)
    }
}

/// How often a folder is listed again because something that was listed is gone.
const LISTINGS: u32 = 10;

impl Contents {
    /// Reads a folder. A missing folder is empty. Results that are in `known` are not read again.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn read(folder: &Path, known: &BTreeMap<Key, Place>) -> Result<Contents, String> {
        let mut contents = Contents::read_once(folder, known)?;
        // Whoever packs results removes their files, and the pack was not listed yet.
        for _ in 1..LISTINGS {
            if !contents.is_outdated {
                break;
            }
            contents = Contents::read_once(folder, &contents.results)?;
        }
        Ok(contents)
    }

    fn read_once(folder: &Path, known: &BTreeMap<Key, Place>) -> Result<Contents, String> {
        let mut contents = Contents::default();
        // Files come before packs, as their names are sorted.
        for (path, name) in list(folder)? {
            contents.add(path, name, known);
        }
        let Contents { results, contradictions, .. } = &mut contents;
        results.retain(|key, _| !contradictions.contains_key(key));
        Ok(contents)
    }

    /// The files of jobs, except those in packs.
    pub fn files_of(&self, is_wanted: impl Fn(&Key) -> bool) -> Vec<&Path> {
        let of_results = self.results.iter().filter_map(|(key, place)| match &place.source {
            Source::File(path) => Some((key, path)),
            Source::Pack(_) => None,
        });
        let all = of_results.chain(self.repeated.iter().map(|(key, path)| (key, path)));
        all.filter(|(key, _)| is_wanted(key)).map(|(_, path)| path.as_path()).collect()
    }

    fn add(&mut self, path: PathBuf, name: Name, known: &BTreeMap<Key, Place>) {
        match name {
            Name::Result(key, checksum) => {
                let is_it = |place: &&Place| matches!(&place.source, Source::File(other) if *other == path);
                if let Some(place) = known.get(&key).filter(is_it) {
                    // It may have gone since.
                    match path.try_exists() {
                        Ok(true) => return self.add_result(key, place.clone()),
                        _ => return self.is_outdated = true,
                    }
                }
                match read_result(&path, &key, &checksum) {
                    Ok(record) => {
                        let size = std::fs::symlink_metadata(&path).map_or(0, |found| found.len());
                        let run = Arc::new(Run::of(&record));
                        self.add_result(key, Place { source: Source::File(path), checksum, size, run });
                    }
                    Err(flaw) => self.pass_over_unless_gone(path, &flaw),
                }
            }
            Name::Pack(digest) => match Pack::open(&path, &digest) {
                Ok(pack) => self.add_pack(Arc::new(pack)),
                Err(flaw) => self.pass_over_unless_gone(path, &flaw),
            },
            Name::Failure(key) => match failure::read(&path) {
                Ok(failure) => drop(self.failures.insert(key, failure)),
                // Its job has succeeded meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => self.pass_over(path, error.to_string()),
            },
            Name::Claim(_) | Name::Temporary => match file::open_to_read(&path) {
                Ok(found) if name == Name::Temporary || claim::is_empty(&found) => {
                    if found.try_lock().is_ok() {
                        self.findings.leftovers.push(path);
                    }
                }
                Ok(_) => self.pass_over(path, "found a file with contents, expected an empty one".into()),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => self.pass_over(path, error.to_string()),
            },
            Name::Wrong(expected) => self.pass_over(path, format!("found this name, expected {expected}")),
            Name::Other => {}
        }
    }

    fn add_pack(&mut self, pack: Arc<Pack>) {
        let size = pack.bytes / (pack.results.len() as u64).max(1);
        for (key, run) in pack.runs() {
            let (source, checksum) = (Source::Pack(pack.clone()), pack.results[&key].clone());
            self.add_result(key, Place { source, checksum, size, run: Arc::new(run) });
        }
        self.packs.push(pack);
    }

    fn add_result(&mut self, key: Key, place: Place) {
        let Some(other) = self.results.get(&key) else {
            self.results.insert(key, place);
            return;
        };
        if other.checksum != place.checksum {
            match (other.read(&key), place.read(&key)) {
                (Ok(one), Ok(two)) if one.rows == two.rows => {}
                (Ok(_), Ok(_)) => return self.contradict(key, place),
                (Ok(_), Err(_)) => return,
                (Err(_), _) => {
                    self.results.insert(key, place);
                    return;
                }
            }
        }
        if let Source::File(path) = place.source {
            self.repeated.push((key, path));
        }
    }

    fn contradict(&mut self, key: Key, place: Place) {
        let (one, two) = (self.results[&key].path(&key), place.path(&key));
        let contradicts =
            |path: &Path| format!("contradicts {}, another result of the same job", path.display());
        let is_first = !self.contradictions.contains_key(&key);
        if is_first {
            self.pass_over(one.clone(), contradicts(&two));
        }
        self.pass_over(two.clone(), contradicts(&one));
        self.contradictions.insert(key, format!("{}: {}", one.display(), contradicts(&two)));
    }

    fn pass_over(&mut self, path: PathBuf, reason: String) {
        self.findings.passed_over.push(Finding { path, reason });
    }

    fn pass_over_unless_gone(&mut self, path: PathBuf, flaw: &Flaw) {
        match flaw {
            Flaw::Gone => self.is_outdated = true,
            flaw => self.pass_over(path, flaw.to_string()),
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

impl From<io::Error> for Flaw {
    fn from(error: io::Error) -> Flaw {
        match error.kind() {
            ErrorKind::NotFound => Flaw::Gone,
            _ => Flaw::Other(error.to_string()),
        }
    }
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
    if !file::may_end_with(path, RESULT_BYTES, END)? {
        return Err(Flaw::Damaged);
    }
    decode(file::read(path, RESULT_BYTES)?, key, checksum)
}

/// Whether a regular file has bytes other than those of its checksum, so that a new result may replace it. Reads all of
/// it, so that nobody's file is taken for a damaged one.
pub fn is_damaged(path: &Path, checksum: &str) -> bool {
    file::read(path, RESULT_BYTES).is_ok_and(|bytes| digest(&bytes) != checksum)
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
