//! A row on its way to the banks, of which some lanes may still have to come from there.

use strata_warp::{ALL_LANES, LaneMask, Row};

use super::layout::RowId;

/// A row above the banks. A write of only some lanes leaves the others missing until they are read.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// Which row it is.
    pub row: RowId,
    /// Its value, except in the missing lanes.
    pub value: Row,
    /// Lanes that have yet to be read from below.
    pub missing: LaneMask,
    /// Tells one merge of this place from the next.
    pub merge: u32,
}

impl Held {
    /// A row of which only `lanes` are known.
    pub fn new(row: RowId, lanes: LaneMask, value: &Row, merge: u32) -> Held {
        let mut held = Held { row, value: Row::ZERO, missing: ALL_LANES & !lanes, merge };
        held.value.merge(lanes, value);
        held
    }

    /// Whether no lane is missing.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.missing == 0
    }

    /// Overwrites lanes.
    #[inline]
    pub fn write(&mut self, lanes: LaneMask, value: &Row) {
        self.value.merge(lanes, value);
        self.missing &= !lanes;
    }

    /// Takes the missing lanes from the value below.
    pub fn fill(&mut self, below: &Row) {
        self.value.merge(self.missing, below);
        self.missing = 0;
    }

    /// The whole value, given the one below.
    pub fn over(&self, below: &Row) -> Row {
        let mut value = self.value;
        value.merge(self.missing, below);
        value
    }
}
