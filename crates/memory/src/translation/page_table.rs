//! Where page tables lie.

use super::{Page, TranslationConfig};
use crate::address::{LINE_BYTES, LineAddress};
use crate::line::ByteMask;

/// Bytes of an entry. ASSUMED: 8, as in the tables of other 64-bit machines.
const ENTRY_BYTES: u64 = 8;

/// Binary logarithm of the entries of a table. ASSUMED: 9, tables of 4 KiB.
const TABLE_BITS: u32 = 9;

/// Bytes that a walk reads at once: a sector.
const READ_BYTES: u64 = 32;

/// The page tables of device memory: a tree, whose tables of one level lie one behind the other, the levels at the top of memory.
#[derive(Clone, Debug)]
pub struct PageTable {
    /// First address of each level, from that with an entry for each page up.
    levels: Vec<u64>,
    bytes: u64,
}

impl PageTable {
    /// The tables of `memory_bytes` bytes of memory, in its last bytes.
    pub fn new(config: &TranslationConfig, memory_bytes: u64) -> PageTable {
        let pages = memory_bytes.div_ceil(*config.page_bytes);
        let entries = |level: u32| pages.div_ceil(1 << (level * TABLE_BITS));
        let size = |level| (entries(level) * ENTRY_BYTES).next_multiple_of(LINE_BYTES as u64);
        let levels = 0..*config.gmmu.levels;
        let bytes = levels.clone().map(size).sum();
        let mut at = memory_bytes - bytes;
        let place = |level| {
            let first = at;
            at += size(level);
            first
        };
        PageTable { levels: levels.map(place).collect(), bytes }
    }

    /// Bytes of memory that they take, those at its end.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of levels.
    pub(super) fn levels(&self) -> u32 {
        self.levels.len() as u32
    }

    /// What a walk for a page reads at a level, counted from that with an entry for each page: the line, and which bytes of it.
    pub(super) fn entry(&self, page: Page, level: u32) -> (LineAddress, ByteMask) {
        let at = self.levels[level as usize] + (page.0 >> (level * TABLE_BITS)) * ENTRY_BYTES;
        let within = at % LINE_BYTES as u64 / READ_BYTES * READ_BYTES;
        (LineAddress(at / LINE_BYTES as u64), ByteMask::range(within as usize, READ_BYTES as usize))
    }
}
