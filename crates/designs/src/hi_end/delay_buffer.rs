//! The delay buffer (IV-B2, Fig. 9): rows between the register cache and the banks. They can be read until the
//! banks hold them.

use strata_engine::Cycle;
use strata_warp::{LaneMask, Row};

use super::banks::Banks;
use super::compression::Range;
use super::held::Held;
use super::layout::{Layout, RowId};

/// No slot.
const NONE: u8 = u8::MAX;

/// Rows on their way to the banks. A row may be here twice, once being written and once waiting; the newest
/// counts.
pub struct DelayBuffer {
    pub(super) slots: Vec<Held>,
    /// By slot: how its row is compressed, once that is known.
    pub(super) ranges: Vec<Option<Range>>,
    /// Mask of free slots.
    free: u64,
    /// Slots whose write has not begun, oldest first.
    pub(super) waiting: Vec<u8>,
    /// By row: the slot of its newest value.
    pub(super) newest: Vec<u8>,
    merges: u32,
}

impl DelayBuffer {
    /// An empty buffer of at most 64 entries for the rows of a register file.
    pub fn new(entries: u32, rows: usize) -> DelayBuffer {
        let nothing = Held { row: 0, value: Row::ZERO, missing: 0, merge: 0 };
        DelayBuffer {
            slots: vec![nothing; entries as usize],
            ranges: vec![None; entries as usize],
            free: u64::MAX >> (64 - entries),
            waiting: Vec::with_capacity(entries as usize),
            newest: vec![NONE; rows],
            merges: 0,
        }
    }

    /// Number of entries.
    pub fn entries(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Number of rows in the buffer.
    #[inline]
    pub fn occupancy(&self) -> u32 {
        self.entries() - self.free.count_ones()
    }

    /// Whether no entry is free.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.free == 0
    }

    /// Whether rows wait for their write to begin.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The newest value of a row, if the buffer has one.
    #[inline]
    pub fn find(&self, row: RowId) -> Option<&Held> {
        match self.newest[row as usize] {
            NONE => None,
            slot => Some(&self.slots[usize::from(slot)]),
        }
    }

    /// Takes a row; if `merges`, lanes other than the given ones come later. Returns its slot and the number of
    /// its merge.
    ///
    /// # Panics
    /// Panics if the buffer is full.
    #[inline]
    pub fn accept(&mut self, row: RowId, lanes: LaneMask, value: &Row, merges: bool) -> (u16, u32) {
        assert!(self.free != 0, "a row enters a free slot");
        let slot = self.free.trailing_zeros() as u8;
        self.free &= self.free - 1;
        self.merges = self.merges.wrapping_add(u32::from(merges));
        let mut held = Held::new(row, lanes, value, self.merges);
        if !merges {
            held.missing = 0;
        }
        self.slots[usize::from(slot)] = held;
        self.ranges[usize::from(slot)] = None;
        self.waiting.push(slot);
        self.newest[row as usize] = slot;
        (u16::from(slot), held.merge)
    }

    /// Gives the missing lanes to a slot, if it still waits for this merge.
    pub fn fill(&mut self, slot: u16, merge: u32, below: &Row) {
        let held = &mut self.slots[usize::from(slot)];
        if held.merge == merge && !held.is_whole() {
            held.fill(below);
        }
    }

    /// Begins the oldest write that can begin, of those to groups that are free. Returns whether one does.
    pub fn begin(
        &mut self,
        banks: &mut Banks,
        layout: &Layout,
        is_free: impl Fn(u32) -> bool,
        now: Cycle,
    ) -> bool {
        for index in 0..self.waiting.len() {
            let slot = usize::from(self.waiting[index]);
            let held = &self.slots[slot];
            let is_older = |other: &u8| self.slots[usize::from(*other)].row == held.row;
            if !held.is_whole()
                || !is_free(layout.place(held.row).group)
                || self.waiting[..index].iter().any(is_older)
            {
                continue;
            }
            let range = *self.ranges[slot].get_or_insert_with(|| Range::of(&held.value));
            if banks.begin(layout, held.row, &held.value, range, now) {
                self.waiting.remove(index);
                return true;
            }
        }
        false
    }

    /// Frees the slot of a row whose write has ended.
    pub fn ended(&mut self, row: RowId) {
        let slot = (0..self.slots.len() as u8)
            .find(|slot| {
                self.free >> slot & 1 == 0
                    && self.slots[usize::from(*slot)].row == row
                    && !self.waiting.contains(slot)
            })
            .expect("a write that ends has a slot");
        self.free |= 1 << slot;
        if self.newest[row as usize] == slot {
            self.newest[row as usize] = NONE;
        }
    }

    /// Gives up a row. Returns whether the buffer had it. A write that has begun goes on.
    pub fn forget(&mut self, row: RowId) -> bool {
        let found = std::mem::replace(&mut self.newest[row as usize], NONE) != NONE;
        let (slots, free) = (&mut self.slots, &mut self.free);
        self.waiting.retain(|slot| {
            let held = &mut slots[usize::from(*slot)];
            let stays = held.row != row;
            if !stays {
                *free |= 1 << slot;
                held.missing = 0;
            }
            stays
        });
        found
    }

    /// Gives up all rows.
    pub fn clear(&mut self) {
        self.free = u64::MAX >> (64 - self.entries());
        self.waiting.clear();
        self.newest.fill(NONE);
        self.slots.iter_mut().for_each(|held| held.missing = 0);
    }
}
