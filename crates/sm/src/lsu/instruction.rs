//! Input and output of the load/store unit.

use strata_ptx::isa::{Instruction, Pc};
use strata_ptx::lanes::{LaneMask, Row};

/// A memory instruction with its operands collected, ready for [`Lsu::issue`](super::Lsu::issue).
#[derive(Clone, Copy, Debug)]
pub struct MemoryInstruction<'a> {
    /// The decoded instruction: opcode, access mode and operands.
    pub instruction: &'a Instruction,
    /// Index of the instruction in the kernel's code.
    pub pc: Pc,
    /// Warp slot in the SM.
    pub warp: u8,
    /// Active lanes, with the guard applied. With no active lane the instruction completes immediately.
    pub lanes: LaneMask,
    /// First byte of the CTA's shared memory in the SM's scratchpad.
    pub shared_base: u32,
    /// The CTA's slot in the SM.
    pub cta_slot: u8,
    /// Coordinates of the warp's CTA in the grid, for faults.
    pub cta: [u32; 3],
    /// Index of the warp within its CTA, for faults.
    pub warp_in_cta: u32,
}

/// A finished memory instruction and the rows to write back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished<'a> {
    /// Warp slot in the SM.
    pub warp: u8,
    /// Index of the instruction in the kernel's code.
    pub pc: Pc,
    /// Lanes whose destination registers are written.
    pub lanes: LaneMask,
    /// Result rows of 32 lanes each, in destination order, low word first. Empty for stores, reductions and
    /// prefetches.
    pub rows: &'a [Row],
}
