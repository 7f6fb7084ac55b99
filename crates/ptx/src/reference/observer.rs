//! What a run shows to whoever watches it.

use crate::isa::{Reg, Space};
use crate::lanes::{LaneMask, Row, WARP_LANES};

/// Watches a run. A run without one pays a test an access for it.
pub trait Observer {
    /// A warp accesses memory. An instruction whose lanes reach several spaces comes once for each.
    fn access(&mut self, access: &Access<'_>);

    /// Whether to call [`Observer::registers`]; asked once, when the run begins.
    fn watches_registers(&self) -> bool {
        false
    }

    /// A warp has executed an instruction that reads or writes registers. A barrier that returns a value comes
    /// twice: when the warp arrives, with what it reads, and when the barrier opens, with what it writes.
    fn registers(&mut self, _: &RegisterUse<'_>) {}
}

/// The registers that an instruction of one warp uses. Ids are those of the allocated kernel; a 64-bit value
/// takes two registers.
#[derive(Clone, Copy, Debug)]
pub struct RegisterUse<'a> {
    /// The lanes that execute the instruction, at least one.
    pub lanes: LaneMask,
    /// The registers read, each once however many operands name it.
    pub reads: &'a [Reg],
    /// The registers written.
    pub writes: &'a [Reg],
    /// All registers of the warp after the instruction, by id. They are zero when the warp starts.
    pub rows: &'a [Row],
}

/// An access of one warp to one space.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// What it does.
    pub kind: AccessKind,
    /// Never [`Space::Generic`] or [`Space::Param`].
    pub space: Space,
    /// The lanes that take part, at least one.
    pub lanes: LaneMask,
    /// The lanes' addresses; those of other lanes mean nothing. Shared and local addresses begin at 0.
    pub addresses: &'a [u64; WARP_LANES],
    /// Bytes that each lane accesses.
    pub bytes: usize,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// `ld`.
    Load,
    /// `st`.
    Store,
    /// `atom` or `red`.
    Atomic,
}
