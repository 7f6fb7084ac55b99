//! Which registers an instruction accesses where a machine counts them as a simulator of PTX does, by operand: GPGPU-Sim
//! 3.2.2 (`cuda-sim.cc`, 2013, `ptx_instruction::pre_decode`) has one register for an operand of any width, and one for a
//! predicate that an instruction writes, or reads as an operand; guards access none.

use super::allocate::Allocation;
use super::limits::{AccessRules, WideAccesses};
use crate::ir::{VDst, VInst, VReg, VSrc};
use crate::isa::{Dst, MAX_ROWS, PredReg, Reg, RegList, Width};

/// The registers that an instruction accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accesses {
    /// Those that it reads, each once.
    pub reads: RegList,
    /// Those that it writes, and with what.
    pub writes: Vec<(Reg, Dst)>,
}

/// The highest number of a register. A kernel that needs more of them in any case has several predicates under it.
const MOST: u32 = u8::MAX as u32;

/// The numbers of an allocation's registers.
pub struct Numbers<'a> {
    allocation: &'a Allocation,
    rules: AccessRules,
}

impl<'a> Numbers<'a> {
    /// Those that the rules give.
    pub fn new(allocation: &'a Allocation, rules: AccessRules) -> Numbers<'a> {
        Numbers { allocation, rules }
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        let predicates = if self.rules.predicates { self.allocation.predicates } else { 0 };
        (self.values() + predicates).min(MOST)
    }

    /// Those of values that are no predicates.
    fn values(&self) -> u32 {
        match &self.allocation.numbers {
            Some(numbers) => numbers.count,
            None => self.allocation.registers,
        }
    }

    fn of(&self, reg: VReg) -> u8 {
        match &self.allocation.numbers {
            Some(numbers) => numbers.of[reg.0 as usize] as u8,
            None => self.allocation.place(reg),
        }
    }

    fn of_predicate(&self, predicate: PredReg) -> Reg {
        Reg((self.values() + u32::from(predicate.0)).min(MOST) as u8)
    }

    /// The numbers that a value of some rows accesses, each with the row that has its bits.
    fn of_value(&self, reg: VReg, rows: usize) -> impl Iterator<Item = (Reg, Reg)> {
        let (first, place) = (self.of(reg), self.allocation.place(reg));
        let accesses = if self.rules.wide == WideAccesses::Rows { rows as u8 } else { 1 };
        (0..accesses).map(move |row| (Reg(first + row), Reg(place + row)))
    }

    /// What an instruction accesses. Of more reads than it may have rows, the last are left out.
    pub fn accesses(&self, inst: &VInst) -> Accesses {
        let body = &self.allocation.body;
        let mut accesses = Accesses { reads: RegList::EMPTY, writes: Vec::new() };
        let mut read = |register| {
            if accesses.reads.as_slice().len() < MAX_ROWS {
                accesses.reads.push(register);
            }
        };
        for (slot, src) in inst.src.iter().enumerate() {
            let VSrc::Reg(reg, _) = *src else { continue };
            match body.source_width(inst, slot) {
                Width::Predicate if self.rules.predicates => {
                    read(self.of_predicate(PredReg(self.allocation.place(reg))));
                }
                Width::Predicate => {}
                width => self.of_value(reg, width.rows()).for_each(|(number, _)| read(number)),
            }
        }
        for (slot, dst) in inst.dst.iter().enumerate() {
            let VDst::Reg(reg) = *dst else { continue };
            match inst.op.traits().dst.width(slot) {
                Width::Predicate if self.rules.predicates => {
                    let predicate = PredReg(self.allocation.place(reg));
                    accesses.writes.push((self.of_predicate(predicate), Dst::Pred(predicate)));
                }
                Width::Predicate => {}
                width => {
                    let rows = self.of_value(reg, width.rows());
                    accesses.writes.extend(rows.map(|(number, row)| (number, Dst::Reg(row))));
                }
            }
        }
        accesses
    }
}
