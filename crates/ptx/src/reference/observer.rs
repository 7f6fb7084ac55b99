//! What a run shows to whoever watches it.

use super::LaunchConfig;
use crate::isa::{Instruction, Pc, Reg, Space};
use crate::lanes::{LaneMask, Row, WARP_LANES};
use crate::program::Kernel;

/// Watches a run. A run without one pays a test an access for it.
pub trait Observer {
    /// A warp accesses memory. An instruction whose lanes reach several spaces comes once for each.
    fn access(&mut self, access: &Access<'_>);

    /// A launch begins. The launches of an observer follow each other.
    fn begins(&mut self, _: &Kernel, _: &LaunchConfig) {}

    /// A CTA begins, of which nothing was shown yet.
    fn cta_begins(&mut self, _cta: u64) {}

    /// All threads of a CTA have ended.
    fn cta_ends(&mut self, _cta: u64) {}

    /// A warp executes a fence, ends a group of asynchronous copies, or has waited for some.
    fn orders(&mut self, _: &Issuer<'_>, _: LaneMask) {}

    /// Lanes of a warp execute `bar.warp.sync`, each with the lanes that its row names.
    fn warp_syncs(&mut self, _: &Issuer<'_>, _: LaneMask, _members: &Row) {}

    /// A warp arrives at a barrier of its CTA.
    fn arrives(&mut self, _: &Issuer<'_>, _: &BarrierArrival) {}

    /// A barrier is complete: the warps of the mask, which waited there, go on.
    fn opens(&mut self, _cta: u64, _barrier: u32, _warps: u64) {}

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

/// Which warp executes what.
#[derive(Clone, Copy, Debug)]
pub struct Issuer<'a> {
    /// The CTA's number, x first.
    pub cta: u64,
    /// The warp's number in its CTA.
    pub warp: u32,
    /// Where the instruction stands in the kernel.
    pub pc: Pc,
    /// The instruction.
    pub instruction: &'a Instruction,
}

/// A warp's arrival at a barrier of its CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierArrival {
    /// Which barrier.
    pub barrier: u32,
    /// Threads that complete it; 0: all of the CTA.
    pub threads: u32,
    /// Whether the warp waits there.
    pub waits: bool,
}

/// The bytes of a store.
pub trait Written {
    /// A byte that a lane writes; 0 is at its address.
    fn after(&self, lane: usize, byte: usize) -> u8;

    /// What is there before the instruction, if the memory is there.
    fn before(&self, lane: usize, byte: usize) -> Option<u8>;
}

/// An access of one warp to one space.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// Who does it.
    pub by: Issuer<'a>,
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
    /// What an `st` writes.
    pub written: Option<&'a dyn Written>,
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
