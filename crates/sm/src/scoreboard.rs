//! The scoreboard: tracks each warp's pending register writes and reads.

use strata_ptx::isa::{Instruction, RegSet};

use crate::slots::Slots;

/// Why an instruction cannot issue yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hazard {
    /// No hazard: the instruction may issue.
    None,
    /// A register or predicate awaits a result from an execution unit, or a register has yet to be read by an operand
    /// collector.
    Execution,
    /// A register awaits a value from memory.
    Memory,
}

/// Pending registers of one warp, kept in one cache line because they are checked together.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Pending {
    /// Registers that instructions in flight will write.
    writing: RegSet,
    /// The subset of `writing` that memory instructions will write.
    loading: RegSet,
    /// Registers that operand collectors have yet to read. Collectors finish in any order, so writing one of these
    /// early would be a write-after-read hazard.
    reading: RegSet,
    /// Predicates that instructions in flight will write.
    predicates: u32,
}

/// Pending registers of every warp slot.
#[derive(Debug)]
pub struct Scoreboard {
    warps: Slots<Pending>,
}

impl Scoreboard {
    /// A scoreboard with nothing pending.
    pub fn new() -> Self {
        Scoreboard { warps: Slots::new(Pending::default) }
    }

    /// Checks whether an instruction may issue. Predicate sources are read at issue, so they have no write-after-read
    /// hazard.
    #[inline]
    pub fn check(&self, warp: usize, instruction: &Instruction) -> Hazard {
        let Pending { writing, loading, reading, predicates } = &self.warps[warp];
        let registers =
            writing.intersects(&instruction.read_set) || writing.intersects(&instruction.write_set);
        if registers {
            if loading.intersects(&instruction.read_set) || loading.intersects(&instruction.write_set) {
                return Hazard::Memory;
            }
            return Hazard::Execution;
        }
        let predicates = predicates & (instruction.pred_reads | instruction.pred_writes) != 0;
        if predicates || reading.intersects(&instruction.write_set) {
            return Hazard::Execution;
        }
        Hazard::None
    }

    /// Marks an issuing instruction's destinations as pending. `memory` says that the load/store unit will write
    /// them.
    #[inline]
    pub fn reserve(&mut self, warp: usize, instruction: &Instruction, memory: bool) {
        let pending = &mut self.warps[warp];
        pending.writing.union_with(&instruction.write_set);
        if memory {
            pending.loading.union_with(&instruction.write_set);
        }
        pending.predicates |= instruction.pred_writes;
    }

    /// Clears the destinations of an instruction that has written them.
    #[inline]
    pub fn release(&mut self, warp: usize, instruction: &Instruction) {
        let pending = &mut self.warps[warp];
        subtract(&mut pending.writing, &instruction.write_set);
        subtract(&mut pending.loading, &instruction.write_set);
        pending.predicates &= !instruction.pred_writes;
    }

    /// Replaces the set of registers that operand collectors have yet to read for the warp.
    #[inline]
    pub fn set_reading(&mut self, warp: usize, reading: RegSet) {
        self.warps[warp].reading = reading;
    }

    /// Adds to the set of registers that operand collectors have yet to read for the warp.
    #[inline]
    pub fn add_reading(&mut self, warp: usize, reading: &RegSet) {
        self.warps[warp].reading.union_with(reading);
    }

    /// Whether the warp has nothing pending.
    pub fn is_clear(&self, warp: usize) -> bool {
        let pending = &self.warps[warp];
        pending.writing.is_empty() && pending.predicates == 0 && pending.reading.is_empty()
    }
}

#[inline]
fn subtract(from: &mut RegSet, what: &RegSet) {
    for (word, gone) in from.0.iter_mut().zip(what.0) {
        *word &= !gone;
    }
}

#[cfg(test)]
mod tests {
    use strata_ptx::isa::Reg;

    use super::*;
    use crate::fixtures::{alu, load};

    fn set(registers: &[u8]) -> RegSet {
        let mut set = RegSet::EMPTY;
        registers.iter().for_each(|register| set.insert(Reg(*register)));
        set
    }

    #[test]
    fn hazards() {
        let mut scoreboard = Scoreboard::new();
        scoreboard.reserve(0, &alu(3, &[1, 2]), false);
        scoreboard.reserve(0, &load(70, 5), true);
        let table = [
            (alu(4, &[3, 0]), Hazard::Execution), // read after write
            (alu(3, &[0, 0]), Hazard::Execution), // write after write
            (alu(4, &[70, 3]), Hazard::Memory),   // read of a loaded register
            (alu(70, &[0, 1]), Hazard::Memory),   // write after write of a loaded register
            (alu(1, &[2, 5]), Hazard::None),      // sources of others may be overwritten once read
        ];
        for (instruction, hazard) in &table {
            assert_eq!(scoreboard.check(0, instruction), *hazard, "{instruction:?}");
            assert_eq!(scoreboard.check(1, instruction), Hazard::None, "warps have nothing in common");
        }
        scoreboard.release(0, &alu(3, &[1, 2]));
        assert_eq!(scoreboard.check(0, &alu(4, &[3, 0])), Hazard::None);
    }

    #[test]
    fn a_register_that_is_still_to_be_read_is_not_written() {
        let mut scoreboard = Scoreboard::new();
        scoreboard.add_reading(0, &set(&[7]));
        assert_eq!(scoreboard.check(0, &alu(7, &[1])), Hazard::Execution);
        assert_eq!(scoreboard.check(0, &alu(8, &[7])), Hazard::None);
        scoreboard.set_reading(0, RegSet::EMPTY);
        assert_eq!(scoreboard.check(0, &alu(7, &[1])), Hazard::None);
    }
}
