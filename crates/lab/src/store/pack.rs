//! Many results in one file: a ZIP archive, `pack-DIGEST.zip`, of the results' own files.
//!
//! Entries are stored, not compressed, under the names that they have outside of a pack. The archive's directory is
//! the index: opening a pack reads that and no result. One more entry, `runs-CHECKSUM.jsonl`, says of each result what
//! a list shows, a line of JSON each. The digest in the pack's name is that of the entries' names, which hold the
//! checksums of everything.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use strata_gpu::machine::identity::digest;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::file;
use super::name::{self, Name};
use super::result::{self, Flaw, RESULT_BYTES};
use super::run::Run;
use crate::job::{Key, is_digest};
use crate::record::Record;

/// Most bytes of a pack: what an archive can be without the extensions for larger ones.
pub const BYTES: u64 = u32::MAX as u64;

/// Name of the entry with the runs, before its checksum.
const RUNS: &str = "runs-";
/// Its suffix.
const LINES: &str = ".jsonl";

/// A file of many results.
#[derive(Debug)]
pub struct Pack {
    /// Where it lies.
    pub path: PathBuf,
    /// The keys of its results, with checksums.
    pub results: BTreeMap<Key, String>,
    /// Its length.
    pub bytes: u64,
    /// Name of the entry with the runs.
    runs: String,
    archive: Mutex<ZipArchive<File>>,
}

/// A line of the entry with the runs.
#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    #[serde(flatten)]
    run: Run,
}

impl Pack {
    /// Opens a pack and reads its index.
    ///
    /// # Errors
    /// What lies there instead.
    pub fn open(path: &Path, expected: &str) -> Result<Pack, Flaw> {
        let mut file = file::open_to_read(path)?;
        let length = file.metadata()?.len();
        if length > BYTES {
            return Err(Flaw::Other(format!("found {length} bytes, expected at most {BYTES}")));
        }
        if !has_end(&mut file)? {
            return Err(Flaw::Damaged);
        }
        // What is wrong with a damaged index means nothing to a user.
        let archive = ZipArchive::new(file).map_err(|_| Flaw::Damaged)?;
        let mut names: Vec<&str> = archive.file_names().collect();
        names.sort_unstable();
        if digest(names.join("\n").as_bytes()) != expected {
            return Err(Flaw::Damaged);
        }
        let (mut results, mut runs) = (BTreeMap::new(), None);
        for name in names {
            match Name::read(name) {
                Name::Result(key, checksum) => drop(results.insert(key, checksum)),
                _ => runs = Some(name.to_owned()),
            }
        }
        let runs = runs.ok_or_else(|| Flaw::Other("lacks the list of its runs".into()))?;
        Ok(Pack { path: path.to_owned(), results, bytes: length, runs, archive: Mutex::new(archive) })
    }

    /// Reads a result that the pack holds.
    ///
    /// # Errors
    /// What is there instead.
    pub fn read(&self, key: &Key) -> Result<Record, Flaw> {
        result::decode(self.bytes_of(key)?, key, &self.results[key])
    }

    /// The bytes of a result's file.
    ///
    /// # Errors
    /// If they are not those of its checksum.
    pub fn bytes_of(&self, key: &Key) -> Result<Vec<u8>, Flaw> {
        let checksum = &self.results[key];
        let bytes = self.entry(&entry(key, checksum), RESULT_BYTES)?;
        if digest(&bytes) == *checksum { Ok(bytes) } else { Err(Flaw::Damaged) }
    }

    /// What a list shows of the results. Reads only one entry, unless that is damaged. Damaged results are left out.
    pub fn runs(&self) -> BTreeMap<Key, Run> {
        self.listed_runs().unwrap_or_else(|| {
            let runs =
                self.results.keys().filter_map(|key| Some((key.clone(), Run::of(&self.read(key).ok()?))));
            runs.collect()
        })
    }

    fn listed_runs(&self) -> Option<BTreeMap<Key, Run>> {
        let checksum = self.runs.strip_prefix(RUNS)?.strip_suffix(LINES)?;
        let bytes = self.entry(&self.runs, BYTES).ok()?;
        if !is_digest(checksum) || digest(&bytes) != checksum {
            return None;
        }
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let runs: Option<BTreeMap<Key, Run>> = lines
            .map(|line| {
                let Line { key, run } = serde_json::from_slice(line).ok()?;
                Some((Key::read(&key)?, run))
            })
            .collect();
        runs.filter(|runs| runs.keys().eq(self.results.keys()))
    }

    fn entry(&self, name: &str, limit: u64) -> Result<Vec<u8>, Flaw> {
        let mut archive = self.archive.lock().expect("no holder panics");
        let mut bytes = Vec::new();
        let entry = archive.by_name(name).map_err(|_| Flaw::Damaged)?;
        // A wrong length or an entry's own checksum shows here.
        entry.take(limit).read_to_end(&mut bytes).map_err(|_| Flaw::Damaged)?;
        Ok(bytes)
    }
}

/// Name of a result, outside of a pack and in it.
pub fn entry(key: &Key, checksum: &str) -> String {
    format!("{key}-{checksum}{}", name::RESULT)
}

/// Whether a file ends as an archive without a comment does. Without this, its end would be looked for everywhere.
fn has_end(file: &mut File) -> io::Result<bool> {
    const END_BYTES: u64 = 22;
    let mut end = [0; END_BYTES as usize];
    if file.metadata()?.len() < END_BYTES {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-END_BYTES.cast_signed()))?;
    file.read_exact(&mut end)?;
    file.rewind()?;
    Ok(end.starts_with(b"PK\x05\x06"))
}

/// A result to be packed.
pub struct Item<'a> {
    /// The job.
    pub key: &'a Key,
    /// The checksum of its bytes.
    pub checksum: &'a str,
    /// What a list shows of it.
    pub run: &'a Run,
}

/// Writes a pack into a folder and returns its path. `bytes` gives the bytes of each item, which must be sorted by key.
///
/// # Errors
/// If the pack cannot be written.
pub fn write(
    folder: &Path,
    items: &[Item<'_>],
    bytes: &mut dyn FnMut(&Item<'_>) -> io::Result<Vec<u8>>,
) -> io::Result<PathBuf> {
    let mut lines = Vec::new();
    for Item { key, run, .. } in items {
        let line = Line { key: key.to_string(), run: (*run).clone() };
        serde_json::to_writer(&mut lines, &line)?;
        lines.push(b'\n');
    }
    let runs = format!("{RUNS}{}{LINES}", digest(&lines));
    let mut names: Vec<String> = items.iter().map(|item| entry(item.key, item.checksum)).collect();
    names.push(runs.clone());
    names.sort_unstable();
    let path = folder.join(format!("{}{}{}", name::PACK, digest(names.join("\n").as_bytes()), name::ARCHIVE));
    file::write_with(&path, |file| {
        // The same results make the same bytes: an entry has no time.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default());
        let mut archive = ZipWriter::new(io::BufWriter::new(file));
        archive.start_file(&runs, options)?;
        archive.write_all(&lines)?;
        for item in items {
            archive.start_file(entry(item.key, item.checksum), options)?;
            archive.write_all(&bytes(item)?)?;
        }
        archive.finish()?.flush()
    })?;
    Ok(path)
}
