//! The part of an access that the predictors see.

use strata_memory::LineAddress;

/// How a request touches a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    /// It reads bytes of the line.
    Read,
    /// It writes some of the bytes: the others are still to be read.
    Write,
    /// It writes all bytes: the previous ones are dead if nobody read them.
    Overwrite,
}

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
