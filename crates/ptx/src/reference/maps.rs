//! The mappings of a CTA, and what they say of each word of its shared memory (Stash 3.1, 3.3).
//!
//! A word of a coherent mapping *is* the global word: nothing of it is in shared memory. A word of a non-coherent one is a
//! private copy, taken at the first read. Translation is written out here a second time, on purpose: the timed machine has
//! its own (`strata_memory::tile`), and each checks the other.

use std::ops::Range;

use super::fault::FaultKind;
use super::global::GlobalMemory;
use crate::isa::{CHUNK_BYTES, MAP_SHIFT, MAPPED, MAPS_PER_CTA, TileOperands};

/// Bytes of a word.
pub(super) const WORD: u64 = 4;

/// A tile of global memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    base: u64,
    field: u64,
    object: u64,
    /// Objects in a row.
    row: u64,
    stride: u64,
    rows: u64,
}

impl Tile {
    /// The tile that operands describe, or why there cannot be one.
    pub fn new(of: &TileOperands) -> Result<Tile, String> {
        let [mut field, mut object, mut row, stride, rows] =
            [of.field, of.object, of.row, of.stride, of.rows].map(u64::from);
        for (name, value) in
            [("fieldSize", field), ("objectSize", object), ("rowSize", row), ("numStrides", rows)]
        {
            if value == 0 {
                return Err(format!("{name} must be at least 1, found 0"));
            }
        }
        let span = object * row;
        if field == object && span.is_multiple_of(WORD) {
            (field, object, row) = (WORD, WORD, span / WORD);
        }
        let stride = if rows == 1 { span } else { stride };
        for (name, value) in [
            ("globalBase", of.global_base),
            ("fieldSize", field),
            ("objectSize", object),
            ("strideSize", stride),
        ] {
            if !value.is_multiple_of(WORD) {
                return Err(format!("{name} must be a multiple of {WORD} bytes, found {value}"));
            }
        }
        if field > object {
            return Err(format!("fieldSize must be at most objectSize ({object}), found {field}"));
        }
        if stride < span {
            return Err(format!(
                "strideSize must be at least a row of objects ({span} bytes), found {stride}"
            ));
        }
        let ends = (rows - 1).checked_mul(stride).and_then(|last| last.checked_add(span));
        if ends.and_then(|bytes| of.global_base.checked_add(bytes)).is_none() {
            return Err("the tile must end at an address of 64 bits".to_string());
        }
        Ok(Tile { base: of.global_base, field, object, row, stride, rows })
    }

    /// Bytes in shared memory; none if they cannot be counted.
    pub fn bytes(&self) -> Option<u64> {
        (self.field * self.row).checked_mul(self.rows)
    }

    /// The global address of the byte at an offset in shared memory, which must be below [`Tile::bytes`].
    pub fn address(&self, offset: u64) -> u64 {
        let (row, in_row) = (offset / (self.field * self.row), offset % (self.field * self.row));
        self.base + row * self.stride + in_row / self.field * self.object + in_row % self.field
    }

    /// Whether an address is one of a byte of the tile.
    fn has(&self, address: u64) -> bool {
        let Some(offset) = address.checked_sub(self.base) else { return false };
        let (row, in_row) = (offset / self.stride, offset % self.stride);
        row < self.rows && in_row / self.object < self.row && in_row % self.object < self.field
    }

    /// The first word of the tile that is not in memory; the tile's bytes must have been counted.
    fn first_missing(&self, memory: &GlobalMemory) -> Option<u64> {
        let offsets = (0..self.row * self.rows).map(|object| object * self.field);
        offsets
            .map(|offset| self.address(offset))
            .flat_map(|address| (address..address + self.field).step_by(WORD as usize))
            .find(|address| memory.bytes(*address, WORD as usize).is_none())
    }
}

/// A mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Map {
    /// First byte in shared memory.
    base: u64,
    tile: Tile,
    is_coherent: bool,
}

impl Map {
    fn bytes(&self) -> Range<u64> {
        self.base..self.base + self.tile.bytes().expect("it was counted when the mapping was added")
    }

    /// The words of shared memory that it has.
    fn words(&self) -> Range<usize> {
        let Range { start, end } = self.bytes();
        (start / WORD) as usize..(end / WORD) as usize
    }

    /// The bytes of the chunks that it has.
    fn chunks(&self) -> Range<u64> {
        let Range { start, end } = self.bytes();
        start..end.next_multiple_of(CHUNK_BYTES.into())
    }

    fn is_at_the_same_place(&self, other: &Map) -> bool {
        (self.base, self.tile) == (other.base, other.tile)
    }
}

/// What shared memory has of a word under a non-coherent mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Private {
    /// Nothing.
    #[default]
    Absent,
    /// The value that memory had.
    Copied,
    /// What the CTA wrote.
    Written,
}

/// Where a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// In global memory, at this address.
    Global(u64),
    /// In shared memory, at this offset.
    Shared(u64),
    /// There, once the word at the global address is copied.
    CopyOf {
        /// The offset.
        shared: u64,
        /// The address.
        global: u64,
    },
}

/// The mappings of a CTA.
#[derive(Debug, Default)]
pub(super) struct Maps {
    maps: Vec<Map>,
    private: Vec<Private>,
}

impl Maps {
    /// Forgets them all: the CTA has ended.
    pub fn clear(&mut self) {
        self.maps.clear();
        self.private.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.maps.is_empty()
    }

    /// Adds a mapping.
    pub fn add(&mut self, of: &TileOperands, memory: &GlobalMemory, shared_bytes: u64) -> Result<(), String> {
        if self.maps.len() == MAPS_PER_CTA {
            return Err(format!("a CTA may add {MAPS_PER_CTA} mappings, found one more"));
        }
        let map = self.checked(of, memory, shared_bytes, None)?;
        self.private.resize((shared_bytes / WORD) as usize, Private::Absent);
        self.private[map.words()].fill(Private::Absent);
        self.maps.push(map);
        Ok(())
    }

    /// Changes a mapping. Returns the words that others see now: offset in shared memory and global address.
    pub fn change(
        &mut self,
        of: &TileOperands,
        memory: &GlobalMemory,
        shared_bytes: u64,
    ) -> Result<Vec<(u64, u64)>, String> {
        let index = of.index as usize;
        let old = *self.maps.get(index).ok_or_else(|| self.no_such(u64::from(of.index)))?;
        let map = self.checked(of, memory, shared_bytes, Some(index))?;
        let publishes = map.is_at_the_same_place(&old) && map.is_coherent && !old.is_coherent;
        let written = |word: &usize| publishes && self.private[*word] == Private::Written;
        let seen = |word: usize| {
            let offset = word as u64 * WORD;
            (offset, map.tile.address(offset - map.base))
        };
        let published = map.words().filter(written).map(seen).collect();
        if !map.is_at_the_same_place(&old) || publishes {
            self.private[old.words()].fill(Private::Absent);
            self.private[map.words()].fill(Private::Absent);
        }
        self.maps[index] = map;
        Ok(published)
    }

    fn checked(
        &self,
        of: &TileOperands,
        memory: &GlobalMemory,
        shared_bytes: u64,
        replaced: Option<usize>,
    ) -> Result<Map, String> {
        let (base, chunk) = (u64::from(of.shared_base), u64::from(CHUNK_BYTES));
        if !base.is_multiple_of(chunk) {
            return Err(format!("stashBase must be a multiple of {chunk}, found {base:#x}"));
        }
        let tile = Tile::new(of)?;
        let end = tile.bytes().and_then(|bytes| base.checked_add(bytes)).unwrap_or(u64::MAX);
        if end > shared_bytes {
            return Err(format!(
                "the tile must end in the CTA's {shared_bytes} bytes of shared memory, found its end at {end}"
            ));
        }
        if let Some(address) = tile.first_missing(memory) {
            return Err(format!("the tile must lie in memory, found {address:#x}, which holds none"));
        }
        let map = Map { base, tile, is_coherent: of.is_coherent };
        for (index, other) in self.maps.iter().enumerate().filter(|(index, _)| Some(*index) != replaced) {
            check_apart(&map, other, index)?;
        }
        Ok(map)
    }

    fn no_such(&self, index: u64) -> String {
        let maps = self.maps.len();
        format!("expected one of the {maps} mappings that the CTA has added, found index {index}")
    }

    /// Where the word is that a shared address names. A write to a private word makes it the CTA's own.
    pub fn home(&mut self, address: u64, writes: bool) -> Result<Home, FaultKind> {
        let Some(index) = (address >> MAP_SHIFT).checked_sub(1) else {
            self.check_plain(address, WORD)?;
            return Ok(Home::Shared(address));
        };
        let wrong = |reason: String| FaultKind::Mapping { reason };
        let map = self.maps.get(index as usize).ok_or_else(|| wrong(self.no_such(index)))?;
        let (offset, bytes) = (address % MAPPED, map.bytes());
        if !bytes.contains(&offset) {
            let Range { start, end } = bytes;
            return Err(wrong(format!(
                "expected a word of bytes {start:#x} to {end:#x} of shared memory, which mapping {index} has, found \
                 {offset:#x}"
            )));
        }
        let global = map.tile.address(offset - map.base);
        if map.is_coherent {
            return Ok(Home::Global(global));
        }
        let private = &mut self.private[(offset / WORD) as usize];
        let before = *private;
        *private = if writes { Private::Written } else { before.max_copied() };
        Ok(match before {
            Private::Absent if !writes => Home::CopyOf { shared: offset, global },
            _ => Home::Shared(offset),
        })
    }

    /// Refuses an access without a mapping to bytes that a mapping has.
    pub fn check_plain(&self, address: u64, bytes: u64) -> Result<(), FaultKind> {
        let has = |map: &Map| address < map.bytes().end && map.bytes().start < address + bytes;
        let Some(index) = self.maps.iter().position(has) else { return Ok(()) };
        Err(FaultKind::Mapping {
            reason: format!(
                "access without a mapping at shared address {address:#x}, which mapping {index} has"
            ),
        })
    }

    /// As [`Maps::check_plain`], of a copy without a mapping.
    pub fn check_plain_range(&self, bytes: Range<u64>) -> Result<(), FaultKind> {
        self.check_plain(bytes.start, bytes.end - bytes.start)
    }
}

impl Private {
    /// After a read.
    fn max_copied(self) -> Private {
        if self == Private::Absent { Private::Copied } else { self }
    }
}

/// Two mappings of a CTA have chunks of their own, and no global word is coherent in both.
fn check_apart(map: &Map, other: &Map, index: usize) -> Result<(), String> {
    let (mine, its) = (map.chunks(), other.chunks());
    if mine.start < its.end && its.start < mine.end {
        let Range { start, end } = other.bytes();
        return Err(format!(
            "a mapping must have chunks of its own, found bytes {start:#x} to {end:#x} in mapping {index}"
        ));
    }
    if !map.is_coherent || !other.is_coherent {
        return Ok(());
    }
    let last = |map: &Map| map.tile.address(map.bytes().end - map.base - WORD);
    if last(map) < other.tile.base || last(other) < map.tile.base {
        return Ok(());
    }
    let mut words = map.bytes().step_by(WORD as usize).map(|at| map.tile.address(at - map.base));
    match words.find(|address| other.tile.has(*address)) {
        None => Ok(()),
        Some(address) => Err(format!(
            "a global word may be coherent in one mapping of a CTA, found {address:#x} in mapping {index}, too"
        )),
    }
}
