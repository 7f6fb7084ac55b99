//! The operands of an instruction where they are: in the rows and predicates of its warp.

use super::{OperandFamily, Operands};
use crate::isa::{Dst, Instruction, PredReg, Src};
use crate::lanes::{LaneMask, Row};

/// The operands of one instruction, read and written in place.
pub struct InPlace<'a> {
    /// The instruction whose operands these are.
    pub instruction: &'a Instruction,
    /// The warp's rows, by register.
    pub registers: &'a mut [Row],
    /// The warp's predicates.
    pub predicates: &'a mut [LaneMask],
    /// The launch's constant rows.
    pub constants: &'a [Row],
}

/// [`InPlace`], whatever warp they are of.
#[derive(Debug)]
pub struct InPlaces;

impl OperandFamily for InPlaces {
    type Of<'a> = InPlace<'a>;
}

impl Operands for InPlace<'_> {
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
