//! Finds out what lies in a store's folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use strata_gpu::machine::identity::digest;

use super::announcement::{self, Found};
use super::claim;
use super::failure::{self, Failure};
use super::file;
use super::findings::{Finding, Findings};
use super::name::Name;
use super::named;
use super::pack::{self, Pack};
use super::result::{self, Flaw, RESULT_BYTES};
use super::run::Run;
use crate::job::Key;
use crate::record::Record;

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
    /// The notes of sweeps that go on, by what tells them apart.
    pub sweeps: BTreeMap<String, PathBuf>,
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
    /// When its file was written, where that says when it was measured: not in a pack.
    pub written: Option<SystemTime>,
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
            Source::File(path) => result::read(path, key, &self.checksum),
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

/// What was read before.
struct Known<'a> {
    results: &'a BTreeMap<Key, Place>,
    packs: BTreeMap<&'a Path, &'a Arc<Pack>>,
}

impl<'a> Known<'a> {
    fn of(results: &'a BTreeMap<Key, Place>) -> Known<'a> {
        let packs = results.values().filter_map(|place| match &place.source {
            Source::Pack(pack) => Some((pack.path.as_path(), pack)),
            Source::File(_) => None,
        });
        Known { results, packs: packs.collect() }
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
        let known = Known::of(known);
        // Files come before packs, as their names are sorted.
        for (path, name) in list(folder)? {
            contents.add(path, name, &known);
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

    fn add(&mut self, path: PathBuf, name: Name, known: &Known<'_>) {
        match name {
            Name::Result(key, checksum) => {
                let is_it = |place: &&Place| matches!(&place.source, Source::File(other) if *other == path);
                if let Some(place) = known.results.get(&key).filter(is_it) {
                    // It may have gone since.
                    match path.try_exists() {
                        Ok(true) => return self.add_result(key, place.clone()),
                        _ => return self.is_outdated = true,
                    }
                }
                match result::read(&path, &key, &checksum) {
                    Ok(record) => {
                        let found = fs::symlink_metadata(&path).ok();
                        let size = found.as_ref().map_or(0, fs::Metadata::len);
                        let written = found.and_then(|found| found.modified().ok());
                        // Archives that are made reproducibly have no times.
                        let written = written.filter(|at| *at > SystemTime::UNIX_EPOCH);
                        let run = Arc::new(Run::of(&record));
                        let source = Source::File(path);
                        self.add_result(key, Place { source, checksum, size, written, run });
                    }
                    Err(flaw) => self.pass_over_unless_gone(path, &flaw),
                }
            }
            Name::Pack(digest) => match known.packs.get(path.as_path()) {
                // A pack's name is a hash of what it holds.
                Some(pack) => self.add_known_pack(pack, known),
                None => match Pack::open(&path, &digest) {
                    Ok(pack) => self.add_pack(Arc::new(pack)),
                    Err(flaw) => self.pass_over_unless_gone(path, &flaw),
                },
            },
            Name::Sweep(id) => match announcement::look(&path) {
                Ok(Found::Held) => drop(self.sweeps.insert(id, path)),
                Ok(Found::Left) => self.findings.leftovers.push(path),
                Ok(Found::Other) => {
                    self.pass_over(path, "found another file, expected the note of a sweep".into());
                }
                // The sweep has ended meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => self.pass_over(path, error.to_string()),
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
        let runs = pack.runs().into_iter().map(|(key, run)| (key, Arc::new(run))).collect();
        self.add_runs(pack, runs);
    }

    /// Adds a pack without reading what its runs are, where all are known.
    fn add_known_pack(&mut self, pack: &Arc<Pack>, known: &Known<'_>) {
        let of_run = |(key, checksum): (&Key, &String)| {
            let place = known.results.get(key).filter(|place| place.checksum == *checksum)?;
            Some((key.clone(), place.run.clone()))
        };
        match pack.results.iter().map(of_run).collect() {
            Some(runs) => self.add_runs(pack.clone(), runs),
            None => self.add_pack(pack.clone()),
        }
    }

    fn add_runs(&mut self, pack: Arc<Pack>, runs: BTreeMap<Key, Arc<Run>>) {
        let size = pack.bytes / (pack.results.len() as u64).max(1);
        for (key, run) in runs {
            let (source, checksum) = (Source::Pack(pack.clone()), pack.results[&key].clone());
            self.add_result(key, Place { source, checksum, size, written: None, run });
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
        entries => {
            entries.map_err(|error| format!("{}, expected a folder of results", named(folder, &error)))?
        }
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
