//! The register cache (IV-B1, Fig. 8): a direct-mapped cache of SRAM that allocates on writes only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_warp::{LaneMask, Reg, Row};

use super::held::Held;
use super::layout::{RowId, rotated};

/// How the line of a register is computed from warp and register. The paper says only of the tag that "a logical shifter
/// and an adder" compute it (IV-B1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheIndex {
    /// `warp * registers per warp + register`, modulo the number of lines.
    Row,
    /// `(warp << register bits) + register`, modulo the number of lines: the low bits of IV-B1's tag.
    Tag,
    /// `register * 64 + warp`, modulo the number of lines.
    RegisterFirst,
}

/// The register cache.
pub struct RegisterCache {
    index: CacheIndex,
    register_bits: u32,
    lines: Vec<Held>,
    /// By line: its bank.
    bank_of: Vec<u8>,
    merges: u32,
}

/// The row of a line that holds nothing.
const NOTHING: RowId = RowId::MAX;

/// Where a write goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// The line holds the register.
    Hit,
    /// The line is free.
    Free,
    /// The line holds another register, which must leave.
    Occupied,
    /// The line holds another register, which cannot leave: lanes of it are missing.
    Merging,
}

impl RegisterCache {
    /// An empty cache.
    pub fn new(lines: u32, banks: u32, index: CacheIndex, register_bits: u32) -> RegisterCache {
        let nothing = Held { row: NOTHING, value: Row::ZERO, missing: 0, merge: 0 };
        RegisterCache {
            index,
            register_bits,
            lines: vec![nothing; lines as usize],
            bank_of: (0..lines).map(|line| rotated(line, banks) as u8).collect(),
            merges: 0,
        }
    }

    /// The line of a register.
    #[inline]
    pub fn line(&self, warp: u8, register: Reg, row: RowId) -> usize {
        let (warp, register) = (u32::from(warp), u32::from(register.0));
        let index = match self.index {
            CacheIndex::Row => row,
            CacheIndex::Tag => (warp << self.register_bits) + register,
            CacheIndex::RegisterFirst => register * 64 + warp,
        };
        index as usize % self.lines.len()
    }

    /// The bank of a line.
    #[inline]
    pub fn bank(&self, line: usize) -> u32 {
        u32::from(self.bank_of[line])
    }

    /// The row in a line, if it holds it.
    #[inline]
    pub fn find(&self, line: usize, row: RowId) -> Option<&Held> {
        let held = &self.lines[line];
        (held.row == row).then_some(held)
    }

    /// What a write of the row finds in its line.
    #[inline]
    pub fn room(&self, line: usize, row: RowId) -> Room {
        let held = &self.lines[line];
        if held.row == row {
            Room::Hit
        } else if held.row == NOTHING {
            Room::Free
        } else if held.is_whole() {
            Room::Occupied
        } else {
            Room::Merging
        }
    }

    /// The row and value that a line holds.
    pub fn victim(&self, line: usize) -> (RowId, &Row) {
        (self.lines[line].row, &self.lines[line].value)
    }

    /// Overwrites lanes of a line that holds the register.
    #[inline]
    pub fn update(&mut self, line: usize, lanes: LaneMask, value: &Row) {
        self.lines[line].write(lanes, value);
    }

    /// Puts a row in place of what the line held; `missing` lanes come later. Returns the number of its merge.
    #[inline]
    pub fn allocate(&mut self, line: usize, row: RowId, lanes: LaneMask, value: &Row, merges: bool) -> u32 {
        self.merges = self.merges.wrapping_add(u32::from(merges));
        let mut held = Held::new(row, lanes, value, self.merges);
        if !merges {
            held.missing = 0;
        }
        self.lines[line] = held;
        held.merge
    }

    /// Gives the missing lanes to the line, if it still waits for this merge.
    pub fn fill(&mut self, line: usize, merge: u32, below: &Row) {
        let held = &mut self.lines[line];
        if held.merge == merge && !held.is_whole() {
            held.fill(below);
        }
    }

    /// Gives up a row.
    pub fn forget(&mut self, line: usize, row: RowId) {
        let held = &mut self.lines[line];
        if held.row == row {
            (held.row, held.missing) = (NOTHING, 0);
        }
    }

    /// Gives up all rows.
    pub fn clear(&mut self) {
        self.lines.iter_mut().for_each(|held| (held.row, held.missing) = (NOTHING, 0));
    }
}
