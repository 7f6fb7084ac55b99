//! The scoreboard: which registers of a warp are still to be written or read.

use strata_ptx::isa::{Instruction, RegSet};

/// Why an instruction may not issue yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hazard {
    /// It may.
    None,
    /// A register or predicate waits for an execution unit, or is still to be read by an operand collector.
    Execution,
    /// A register waits for memory.
    Memory,
}

/// Pending registers of one warp, side by side: they are looked at together.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Pending {
    /// Registers that instructions under way will write.
    writing: RegSet,
    /// Of those, the ones that memory instructions write.
    loading: RegSet,
    /// Registers that operand collectors have yet to read: writing them early would be a write-after-read
    /// hazard, because collectors finish in any order.
    reading: RegSet,
    /// Predicates that instructions under way will write.
    predicates: u32,
}

/// Pending registers of every warp.
#[derive(Debug)]
pub struct Scoreboard {
    warps: Vec<Pending>,
}

impl Scoreboard {
    /// A scoreboard for `warps` warp slots with nothing pending.
    pub fn new(warps: usize) -> Self {
        Scoreboard { warps: vec![Pending::default(); warps] }
    }

    /// Whether the instruction may issue. Predicate sources are read at issue, so they have no
    /// write-after-read hazard.
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

    /// An instruction issues: its destinations become pending.
    #[inline]
    pub fn reserve(&mut self, warp: usize, instruction: &Instruction, memory: bool) {
        let pending = &mut self.warps[warp];
        pending.writing.union_with(&instruction.write_set);
        if memory {
            pending.loading.union_with(&instruction.write_set);
        }
        pending.predicates |= instruction.pred_writes;
    }

    /// An instruction has written its destinations.
    #[inline]
    pub fn release(&mut self, warp: usize, instruction: &Instruction) {
        let pending = &mut self.warps[warp];
        subtract(&mut pending.writing, &instruction.write_set);
        subtract(&mut pending.loading, &instruction.write_set);
        pending.predicates &= !instruction.pred_writes;
    }

    /// States which registers of the warp operand collectors have yet to read.
    #[inline]
    pub fn set_reading(&mut self, warp: usize, reading: RegSet) {
        self.warps[warp].reading = reading;
    }

    /// Adds to the registers that operand collectors have yet to read.
    #[inline]
    pub fn add_reading(&mut self, warp: usize, reading: &RegSet) {
        self.warps[warp].reading.union_with(reading);
    }

    /// Whether nothing of the warp is pending.
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
        let mut scoreboard = Scoreboard::new(2);
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
        let mut scoreboard = Scoreboard::new(1);
        scoreboard.add_reading(0, &set(&[7]));
        assert_eq!(scoreboard.check(0, &alu(7, &[1])), Hazard::Execution);
        assert_eq!(scoreboard.check(0, &alu(8, &[7])), Hazard::None);
        scoreboard.set_reading(0, RegSet::EMPTY);
        assert_eq!(scoreboard.check(0, &alu(7, &[1])), Hazard::None);
    }
}
