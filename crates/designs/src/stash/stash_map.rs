//! The stash-map: an entry for each mapped partition of the stash, in a circular buffer (4.1.3).

use strata_memory::tile::Tile;

/// An entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// First byte in the stash.
    pub stash_base: u64,
    /// First byte in virtual memory.
    pub global_base: u64,
    /// The tile, with what translation needs.
    pub tile: Tile,
    /// Whether others see what is written.
    pub coherent: bool,
    /// The mapping's thread block, while it runs.
    pub cta: Option<u8>,
    /// #DirtyData: chunks with words registered under this entry.
    pub dirty_chunks: u32,
    /// The reuseBit and its pointer: an older entry with the same tile of the same addresses (4.5).
    pub reuse: Option<u8>,
}

impl Entry {
    /// Whether both map the same addresses.
    pub fn maps_the_same(&self, other: &Entry) -> bool {
        (self.global_base, self.tile) == (other.global_base, other.tile)
    }

    /// Whether both map the same addresses to the same place, and others see both.
    pub fn is_alike(&self, other: &Entry) -> bool {
        let place = self.stash_base == other.stash_base && self.maps_the_same(other);
        place && self.coherent && other.coherent
    }

    /// The words of the stash that are mapped.
    pub fn words(&self) -> std::ops::Range<usize> {
        let first = self.stash_base / strata_memory::tile::WORD;
        first as usize..(first + self.tile.stash_bytes() / strata_memory::tile::WORD) as usize
    }

    /// Virtual address of a mapped word of the stash.
    pub fn address(&self, word: usize) -> u64 {
        let offset = word as u64 * strata_memory::tile::WORD - self.stash_base;
        self.global_base + self.tile.global_offset(offset)
    }

    /// The word of the stash that maps a virtual address.
    pub fn word(&self, address: u64) -> Option<usize> {
        let offset = self.tile.stash_offset(address.checked_sub(self.global_base)?)?;
        Some(((self.stash_base + offset) / strata_memory::tile::WORD) as usize)
    }
}

/// The circular buffer. An entry is valid while it is `Some`.
#[derive(Debug)]
pub struct StashMap {
    entries: Vec<Option<Entry>>,
    tail: usize,
}

impl StashMap {
    /// No mappings, of at most `entries`.
    pub fn new(entries: usize) -> StashMap {
        StashMap { entries: vec![None; entries], tail: 0 }
    }

    /// Entries in the order in which AddMap takes them.
    pub fn in_order(&self) -> impl Iterator<Item = u8> + use<> {
        let (tail, entries) = (self.tail, self.entries.len());
        (tail..entries).chain(0..tail).map(|index| index as u8)
    }

    /// The entry that the next AddMap takes: the first from the tail on whose thread block does not run (reading 6).
    pub fn next(&self) -> u8 {
        let runs = |index: &u8| self.get(*index).is_some_and(|entry| entry.cta.is_some());
        self.in_order().find(|index| !runs(index)).expect("there are more entries than running mappings")
    }

    /// Valid entries with their indices, in the order in which AddMap takes them.
    pub fn valid(&self) -> impl Iterator<Item = (u8, &Entry)> {
        self.in_order().filter_map(|index| self.get(index).map(|entry| (index, entry)))
    }

    /// Puts an entry at `index`; the tail stands behind it then.
    pub fn put(&mut self, index: u8, entry: Entry) {
        self.entries[usize::from(index)] = Some(entry);
        self.tail = (usize::from(index) + 1) % self.entries.len();
    }

    /// An entry, if it is valid.
    pub fn get(&self, index: u8) -> Option<&Entry> {
        self.entries[usize::from(index)].as_ref()
    }

    /// An entry, if it is valid.
    pub fn get_mut(&mut self, index: u8) -> Option<&mut Entry> {
        self.entries[usize::from(index)].as_mut()
    }

    /// An entry becomes invalid.
    pub fn invalidate(&mut self, index: u8) {
        self.entries[usize::from(index)] = None;
        self.forget(index);
    }

    /// Nobody points to an entry any more.
    pub fn forget(&mut self, index: u8) {
        for entry in self.entries.iter_mut().flatten() {
            if entry.reuse == Some(index) {
                entry.reuse = None;
            }
        }
    }
}
