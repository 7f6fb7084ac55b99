//! What each instruction does to values: shared by the reference executor and the timed machine.
//!
//! The caller supplies the operands through [`Operands`]: the reference executor its register rows, the
//! timed machine what its operand collectors fetched. Memory, control flow and barriers are the caller's.

use crate::isa::PredReg;
use crate::lanes::{LaneMask, Row};

/// Access to the operands of one instruction.
pub trait Operands {
    /// 32-bit word `half` of source `slot` (a register or constant; absent sources are never asked for).
    fn source(&self, slot: usize, half: usize) -> &Row;
    /// Writes word `half` of destination `slot` in the given lanes; ignored when the destination is absent.
    fn write(&mut self, slot: usize, half: usize, lanes: LaneMask, value: &Row);
    /// A predicate register, one bit a lane.
    fn predicate(&self, register: PredReg) -> LaneMask;
    /// Writes a predicate register in the given lanes.
    fn write_predicate(&mut self, register: PredReg, lanes: LaneMask, value: LaneMask);
}

/// What a warp knows of itself: the values of its special registers.
#[derive(Clone, Copy, Debug, Default)]
pub struct WarpContext {
    /// Threads of a CTA in x, y, z.
    pub ntid: [u32; 3],
    /// CTAs of the grid in x, y, z.
    pub nctaid: [u32; 3],
    /// This CTA's place in the grid.
    pub ctaid: [u32; 3],
    /// The warp's number in its CTA; lane l is thread 32 * warp + l, x fastest.
    pub warp: u32,
    /// `%warpid`, `%nwarpid`, `%smid`, `%nsmid`: the slot where the warp runs.
    pub warp_slot: u32,
    /// Warp slots of the SM.
    pub warp_slots: u32,
    /// The SM.
    pub sm: u32,
    /// SMs of the GPU.
    pub sms: u32,
    /// Launch number.
    pub grid: u64,
    /// Cycle counter (`%clock64`); the reference executor counts instructions.
    pub clock: u64,
    /// Nanoseconds (`%globaltimer`).
    pub nanoseconds: u64,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Bytes of static and dynamic shared memory.
    pub total_shared: u32,
}
