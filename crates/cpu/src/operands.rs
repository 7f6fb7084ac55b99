//! A thread's registers, as the operands of an instruction. A thread is lane 0.

use strata_ptx::exec::{OperandFamily, Operands};
use strata_ptx::isa::{Dst, Instruction, PredReg, Reg, Src};
use strata_ptx::lanes::{LaneMask, Row};

/// The lane that a thread is.
pub const LANE: LaneMask = 1;

/// The registers of the thread that runs.
#[derive(Debug, Default)]
pub struct Registers {
    rows: Vec<Row>,
    predicates: Vec<LaneMask>,
}

impl Registers {
    /// All registers of a thread, zero.
    pub fn reset(&mut self, registers: u32, predicates: u32) {
        self.rows.clear();
        self.rows.resize(registers as usize, Row::ZERO);
        self.predicates.clear();
        self.predicates.resize(predicates as usize, 0);
    }

    /// The operands of an instruction.
    #[inline]
    pub fn operands<'a>(
        &'a mut self,
        instruction: &'a Instruction,
        constants: &'a [Row],
    ) -> CoreOperands<'a> {
        CoreOperands { instruction, registers: self, constants }
    }

    /// Writes what a memory instruction has brought: a row for each 32-bit word of its destinations, in order.
    pub fn write_results(&mut self, instruction: &Instruction, rows: &[Row]) {
        if rows.is_empty() {
            return;
        }
        let each = rows.chunks(usize::from(instruction.result_rows));
        for (destination, rows) in instruction.dst.iter().zip(each) {
            match *destination {
                Dst::Reg(Reg(first)) => {
                    for (half, row) in rows.iter().enumerate() {
                        self.rows[usize::from(first) + half].merge(LANE, row);
                    }
                }
                Dst::Pred(PredReg(register)) => self.predicates[usize::from(register)] = rows[0].0[0] & LANE,
                Dst::None => {}
            }
        }
    }
}

/// The operands of one instruction, in the thread's registers.
pub struct CoreOperands<'a> {
    instruction: &'a Instruction,
    registers: &'a mut Registers,
    constants: &'a [Row],
}

impl CoreOperands<'_> {
    /// A 32-bit source operand; 0 if there is none.
    pub fn word(&self, slot: usize) -> u32 {
        match self.instruction.src[slot] {
            Src::None => 0,
            _ => self.source(slot, 0).0[0],
        }
    }

    /// A 64-bit source operand.
    pub fn wide(&self, slot: usize) -> u64 {
        let half = |half| u64::from(self.source(slot, half).0[0]);
        half(1) << 32 | half(0)
    }
}

/// The kind of operands that [`CoreOperands`] is.
#[derive(Debug)]
pub struct CoreFamily;

impl OperandFamily for CoreFamily {
    type Of<'a> = CoreOperands<'a>;
}

impl Operands for CoreOperands<'_> {
    #[inline(always)]
    fn source(&self, slot: usize, half: usize) -> &Row {
        match self.instruction.src[slot] {
            Src::Reg(register) => &self.registers.rows[usize::from(register.0) + half],
            Src::Const(row) => &self.constants[usize::from(row) + half],
            other => panic!("line {}: source {slot} is {other:?}, not a row", self.instruction.line),
        }
    }

    #[inline(always)]
    fn write(&mut self, slot: usize, half: usize, lanes: LaneMask, value: &Row) {
        if let Dst::Reg(register) = self.instruction.dst[slot] {
            self.registers.rows[usize::from(register.0) + half].merge(lanes, value);
        }
    }

    #[inline(always)]
    fn predicate(&self, register: PredReg) -> LaneMask {
        self.registers.predicates[usize::from(register.0)]
    }

    #[inline(always)]
    fn write_predicate(&mut self, register: PredReg, lanes: LaneMask, value: LaneMask) {
        let predicate = &mut self.registers.predicates[usize::from(register.0)];
        *predicate = (*predicate & !lanes) | (value & lanes);
    }
}
