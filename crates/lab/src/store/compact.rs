//! Packs the results of a store into a few files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::contents::{Contents, Place, Source};
use super::findings::{Finding, Findings};
use super::pack::{self, Item, Pack};
use super::{file, named};
use crate::job::Key;

/// Most results of a pack.
const RESULTS: usize = 50_000;

/// Most bytes of a pack's results. It may hold one more.
const BYTES: u64 = 3 << 30;

/// What packing has come to.
#[derive(Debug, Default)]
pub struct Compacted {
    /// Results that were moved into packs.
    pub moved: usize,
    /// Results that are in packs now.
    pub results: usize,
    /// Packs that there are now.
    pub packs: usize,
    /// What lies in the folder and is no result. It stays.
    pub findings: Findings,
}

/// Packs the results of a folder. Nothing is lost whenever the process is killed: what was packed is removed when the
/// packs that hold it are on the disk. Readers and writers may go on.
///
/// # Errors
/// If another process does the same, or the folder cannot be read or written.
pub fn compact(folder: &Path) -> Result<Compacted, String> {
    let wrong = |error: &io::Error| named(folder, error);
    let lock = File::open(folder).map_err(|error| wrong(&error))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(format!("{}: another process compacts this store", folder.display()));
        }
        Err(TryLockError::Error(error)) => return Err(wrong(&error)),
    }
    let mut contents = Contents::read(folder, &BTreeMap::new())?;
    let Sorted { kept, old, damaged } = sort(&contents);
    let stays = |place: &Place| match &place.source {
        Source::Pack(pack) => kept.contains(&pack.path),
        Source::File(_) => false,
    };
    let wanted: Vec<(&Key, &Place)> = contents.results.iter().filter(|(_, place)| !stays(place)).collect();
    let mut packed: BTreeSet<PathBuf> = kept.clone();
    let mut written: BTreeMap<&Key, &Place> = BTreeMap::new();
    for group in groups(&wanted) {
        let items: Vec<Item<'_>> = group
            .iter()
            .map(|(key, place)| Item { key, checksum: &place.checksum, run: &place.run })
            .collect();
        let places: BTreeMap<&Key, &Place> = group.iter().copied().collect();
        let mut bytes = |item: &Item<'_>| {
            let place = places[item.key];
            place
                .bytes(item.key)
                .map_err(|flaw| io::Error::other(format!("{}: {flaw}", place.path(item.key).display())))
        };
        packed.insert(pack::write(folder, &items, &mut bytes).map_err(|error| wrong(&error))?);
        written.extend(places);
    }
    let mut moved = 0;
    let is_packed = |key: &Key| written.contains_key(key) || contents.results.get(key).is_some_and(stays);
    for path in contents.files_of(is_packed) {
        file::remove(path).map_err(|error| named(path, &error))?;
        moved += 1;
    }
    for pack in old.iter().filter(|pack| !packed.contains(&pack.path)) {
        file::remove(&pack.path).map_err(|error| named(&pack.path, &error))?;
    }
    lock.sync_all().map_err(|error| wrong(&error))?;
    let results = contents.results.len();
    let reason =
        "holds damaged results, so it is left as it is; their jobs run again when they are asked for";
    let damaged = damaged.into_iter().map(|path| Finding { path, reason: reason.into() });
    contents.findings.passed_over.extend(damaged);
    Ok(Compacted { moved, results, packs: packed.len(), findings: contents.findings })
}

/// What becomes of the packs that there are.
#[derive(Default)]
struct Sorted {
    /// They stay as they are.
    kept: BTreeSet<PathBuf>,
    /// Of these, the ones with a damaged result that nothing else holds.
    damaged: Vec<PathBuf>,
    /// Their results are packed again: small ones, and those of whose results there are others.
    old: Vec<Arc<Pack>>,
}

fn sort(contents: &Contents) -> Sorted {
    let is_needed =
        |pack: &Arc<Pack>, key: &Key| contents.results.get(key).is_none_or(|place| place.is_in(pack));
    let is_minimal = |pack: &Arc<Pack>| pack.results.keys().all(|key| is_needed(pack, key));
    let mut sorted = Sorted::default();
    for pack in &contents.packs {
        if pack.results.len() > RESULTS / 2 && is_minimal(pack) {
            sorted.kept.insert(pack.path.clone());
        } else if pack.results.keys().any(|key| is_needed(pack, key) && pack.bytes_of(key).is_err()) {
            sorted.kept.insert(pack.path.clone());
            sorted.damaged.push(pack.path.clone());
        } else {
            sorted.old.push(pack.clone());
        }
    }
    let has_files = contents.results.values().any(|place| matches!(place.source, Source::File(_)));
    if let [only] = sorted.old.as_slice()
        && !has_files
        && is_minimal(only)
    {
        sorted.kept.extend(sorted.old.drain(..).map(|pack| pack.path.clone()));
    }
    sorted
}

/// Splits results into those of one pack each.
fn groups<'a>(all: &'a [(&'a Key, &'a Place)]) -> Vec<&'a [(&'a Key, &'a Place)]> {
    let (mut groups, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (at, (_, place)) in all.iter().enumerate() {
        if at - start == RESULTS || bytes > BYTES {
            groups.push(&all[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += place.size;
    }
    groups.push(&all[start..]);
    groups.retain(|group| !group.is_empty());
    groups
}
