//! Instructions as the SM carries them out: what of them is known before they run.

use strata_memory::RegisterBanks;
use strata_memory::register_banks::Footprint;
use strata_ptx::exec::{OperandFamily, Operands, Routine, routine};
use strata_ptx::isa::{Dst, Executor, Instruction, Op, PredReg, Src};
use strata_ptx::lanes::{LaneMask, Row};

use crate::collector::PREDICATES;

/// The operands of an instruction where they are.
pub struct InPlace<'a> {
    /// The instruction whose operands these are.
    pub instruction: &'a Instruction,
    /// The warp's rows, by register.
    pub rows: &'a mut [Row],
    /// The launch's constant rows.
    pub constants: &'a [Row],
    /// The warp's predicates.
    pub predicates: &'a mut [LaneMask; PREDICATES],
}

/// The kind of operands that [`InPlace`] is.
#[derive(Debug)]
pub struct InPlaces;

impl OperandFamily for InPlaces {
    type Of<'a> = InPlace<'a>;
}

impl Operands for InPlace<'_> {
    #[inline(always)]
    fn source(&self, slot: usize, half: usize) -> &Row {
        match self.instruction.src[slot] {
            Src::Reg(register) => &self.rows[usize::from(register.0) + half],
            Src::Const(row) => &self.constants[usize::from(row) + half],
            other => panic!("line {}: source {slot} is {other:?}, not a row", self.instruction.line),
        }
    }

    #[inline(always)]
    fn write(&mut self, slot: usize, half: usize, lanes: LaneMask, value: &Row) {
        match self.instruction.dst[slot] {
            Dst::Reg(register) => self.rows[usize::from(register.0) + half].merge(lanes, value),
            Dst::None => {}
            Dst::Pred(_) => panic!("line {}: destination {slot} is a predicate", self.instruction.line),
        }
    }

    #[inline]
    fn predicate(&self, register: PredReg) -> LaneMask {
        self.predicates[usize::from(register.0)]
    }

    #[inline]
    fn write_predicate(&mut self, register: PredReg, lanes: LaneMask, value: LaneMask) {
        let predicate = &mut self.predicates[usize::from(register.0)];
        *predicate = (*predicate & !lanes) | (value & lanes);
    }
}

/// An instruction of the kernel's code in an SM whose register file consists of banks.
#[derive(Clone, Copy, Debug, Default)]
pub struct MicroOp {
    /// The rows that it reads,
    pub reads: Footprint,
    /// and those that it writes.
    pub writes: Footprint,
    /// What executes it as it issues; `None` if its operands are collected first.
    pub routine: Option<Routine<InPlaces>>,
}

impl MicroOp {
    /// An instruction with its rows in these banks.
    pub fn of(instruction: &Instruction, banks: &RegisterBanks) -> MicroOp {
        MicroOp {
            reads: banks.footprint(instruction.reads.as_slice()),
            writes: banks.footprint(instruction.writes.as_slice()),
            routine: executes_at_issue(instruction).then(|| routine::<InPlaces>(instruction)),
        }
    }
}

/// Whether the scoreboard knows all that the instruction reads and writes, and none of it depends on time.
fn executes_at_issue(instruction: &Instruction) -> bool {
    let depends_on_time = matches!(instruction.op, Op::ReadSpecial(special) if !special.is_stable());
    let picks = matches!(instruction.op, Op::MovFromArray { .. } | Op::MovToArray { .. });
    instruction.executor == Executor::Lanes
        && !depends_on_time
        && !picks
        && rows_written(instruction) == instruction.writes.as_slice().len()
}

/// Rows that the instruction writes one after the other, some of them perhaps twice.
fn rows_written(instruction: &Instruction) -> usize {
    let places = instruction.op.traits().dst;
    let rows = |(slot, dst): (usize, &Dst)| match dst {
        Dst::Reg(_) => places.width(slot).rows(),
        Dst::None | Dst::Pred(_) => 0,
    };
    instruction.dst.iter().enumerate().map(rows).sum()
}
