//! A warp of the reference executor: its registers behind [`Operands`], and its state.

use crate::exec::print::Argument;
use crate::exec::{OperandFamily, Operands, WarpContext};
use crate::isa::{Dst, Instruction, PredReg, Src};
use crate::lanes::{LaneMask, Row};
use crate::simt::SimtStack;

/// Where a warp is in the barrier of its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum AtCluster {
    /// It has not arrived.
    #[default]
    Away,
    /// It has arrived; others have not.
    Arrived,
    /// It has arrived and waits for others.
    Waits,
    /// All have arrived; it has not waited yet.
    Passed,
}

/// One warp.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    pub stack: SimtStack,
    pub context: WarpContext,
    /// Whether it waits at a barrier.
    pub waiting: bool,
    /// Where it is in the cluster's barrier.
    pub at_cluster: AtCluster,
    /// Arguments collected so far, by lane, for a printf with many arguments; empty until the first print.
    pub printing: Vec<Vec<Argument>>,
}

impl Warp {
    /// Whether it could execute an instruction.
    #[inline]
    pub fn is_ready(&self) -> bool {
        !self.waiting && !self.stack.is_done()
    }
}

/// The operands of one instruction, read from and written to the warp's registers directly.
pub(super) struct WarpOperands<'a> {
    pub instruction: &'a Instruction,
    pub registers: &'a mut [Row],
    pub predicates: &'a mut [LaneMask],
    pub constants: &'a [Row],
}

/// [`WarpOperands`], whatever warp they are of.
pub(super) struct Family;

impl OperandFamily for Family {
    type Of<'a> = WarpOperands<'a>;
}

impl Operands for WarpOperands<'_> {
    #[inline(always)]
    fn source(&self, slot: usize, half: usize) -> &Row {
        match self.instruction.src[slot] {
            Src::Reg(register) => &self.registers[usize::from(register.0) + half],
            Src::Const(row) => &self.constants[usize::from(row) + half],
            other => panic!("line {}: source {slot} holds no row: {other:?}", self.instruction.line),
        }
    }

    #[inline(always)]
    fn write(&mut self, slot: usize, half: usize, lanes: LaneMask, value: &Row) {
        if let Dst::Reg(register) = self.instruction.dst[slot] {
            self.registers[usize::from(register.0) + half].merge(lanes, value);
        }
    }

    #[inline(always)]
    fn predicate(&self, register: PredReg) -> LaneMask {
        self.predicates[usize::from(register.0)]
    }

    #[inline(always)]
    fn write_predicate(&mut self, register: PredReg, lanes: LaneMask, value: LaneMask) {
        let predicate = &mut self.predicates[usize::from(register.0)];
        *predicate = (*predicate & !lanes) | (value & lanes);
    }
}
