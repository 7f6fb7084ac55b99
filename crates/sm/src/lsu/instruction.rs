//! What goes into the load/store unit and what comes out.

use strata_ptx::isa::{Instruction, Pc};
use strata_ptx::lanes::{LaneMask, Row};

/// A memory instruction whose operands have been collected.
#[derive(Clone, Copy, Debug)]
pub struct MemoryInstruction<'a> {
    /// The instruction.
    pub instruction: &'a Instruction,
    /// Where it stands.
    pub pc: Pc,
    /// Warp slot in the SM.
    pub warp: u8,
    /// Active lanes, guard applied; may be empty (completes at once).
    pub lanes: LaneMask,
    /// First byte of the CTA's shared memory in the SM's scratchpad.
    pub shared_base: u32,
    /// The warp's CTA in the grid and number in it, for faults.
    pub cta: [u32; 3],
    /// The warp's number in its CTA.
    pub warp_in_cta: u32,
}

/// A memory instruction that is finished: what goes into which registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished<'a> {
    /// Warp slot.
    pub warp: u8,
    /// Where the instruction stands.
    pub pc: Pc,
    /// Lanes to write.
    pub lanes: LaneMask,
    /// Rows in the order of destinations, low word first: those of destination 0, then 1... None for stores,
    /// reductions and prefetches.
    pub rows: &'a [Row],
}
