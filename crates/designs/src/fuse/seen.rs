//! The part of an access that the predictors see.

use strata_memory::LineAddress;

use super::dead_write::Touch;

/// The part of an access that the predictors see.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub line: LineAddress,
    pub pc: u32,
    pub warp: u8,
    /// Whether it is the first of its warp instruction.
    pub leads: bool,
    pub touch: Touch,
}
