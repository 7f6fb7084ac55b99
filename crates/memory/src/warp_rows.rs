//! Which rows of a register file are a warp's.

use std::ops::Range;

/// Most warp slots of an SM.
pub const MOST_WARPS: usize = 64;

/// The rows of each warp slot, one slot after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpRows {
    /// Where those of each slot begin, and where the last one's end.
    bounds: [u32; MOST_WARPS + 1],
}

impl WarpRows {
    /// As many rows for each slot.
    pub fn even(rows: u32) -> WarpRows {
        WarpRows::of(|_| rows)
    }

    /// So many rows for each slot.
    pub fn of(rows: impl Fn(usize) -> u32) -> WarpRows {
        let mut bounds = [0; MOST_WARPS + 1];
        for slot in 0..MOST_WARPS {
            bounds[slot + 1] = bounds[slot] + rows(slot);
        }
        WarpRows { bounds }
    }

    /// The row of a slot's register 0.
    #[inline]
    pub fn first(&self, slot: u8) -> u32 {
        self.bounds[usize::from(slot)]
    }

    /// The rows of a slot.
    #[inline]
    pub fn rows(&self, slot: u8) -> Range<u32> {
        self.first(slot)..self.bounds[usize::from(slot) + 1]
    }

    /// How many they are.
    #[inline]
    pub fn count(&self, slot: u8) -> u32 {
        self.rows(slot).len() as u32
    }
}
