//! The central write buffer of the previous work that the paper compares with (V, STT+WB+BDI; Zhang et al., DAC
//! 2016): a buffer in the bank arbiter, shared by all banks, which every write enters. A write of a row that
//! waits there changes it in place. A read looks into buffer and banks at the same time and pays for both.

use strata_warp::{LaneMask, Row};

use super::delay_buffer::DelayBuffer;
use super::layout::RowId;

impl DelayBuffer {
    /// Overwrites lanes of a row that waits for its write to begin. Returns whether one does.
    pub fn absorb(&mut self, row: RowId, lanes: LaneMask, value: &Row) -> bool {
        let slot = self.newest[row as usize];
        if !self.waiting.contains(&slot) {
            return false;
        }
        let slot = usize::from(slot);
        self.slots[slot].write(lanes, value);
        self.ranges[slot] = None;
        true
    }
}
