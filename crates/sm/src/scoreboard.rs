//! The scoreboard: tracks each warp's pending writes of registers and predicates.

use strata_ptx::isa::{Instruction, RegSet};

use crate::demands::Needs;
use crate::slots::Slots;

/// Why an instruction cannot issue yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hazard {
    /// No hazard: the instruction may issue.
    None,
    /// A register or predicate awaits a result from an execution unit.
    Execution,
    /// A register awaits a value from memory.
    Memory,
}

/// Pending registers of one warp, kept in neighbouring cache lines because they are checked together.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Pending {
    /// Registers that instructions in flight will write.
    writing: RegSet,
    /// The subset of `writing` that memory instructions will write.
    loading: RegSet,
    /// Registers that the last instruction with a hazard reads or writes.
    awaited: RegSet,
    /// Predicates that instructions in flight will write.
    predicates: u32,
    /// Predicates that the last instruction with a hazard reads or writes.
    awaited_predicates: u32,
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

    /// Checks whether an instruction waits for what others in flight will write. While it does, only a
    /// [`Scoreboard::release`] that says so can change the answer.
    #[inline]
    pub fn check(&mut self, warp: usize, needs: &Needs) -> Hazard {
        let pending = &mut self.warps[warp];
        if !pending.writing.intersects(&needs.uses) && pending.predicates & needs.predicates == 0 {
            return Hazard::None;
        }
        (pending.awaited, pending.awaited_predicates) = (needs.uses, needs.predicates);
        if pending.loading.intersects(&needs.uses) { Hazard::Memory } else { Hazard::Execution }
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

    /// Clears the destinations of an instruction that has written them. Returns whether the instruction that waits, if
    /// any does, waits for one of them.
    #[inline]
    pub fn release(&mut self, warp: usize, instruction: &Instruction) -> bool {
        let pending = &mut self.warps[warp];
        subtract(&mut pending.writing, &instruction.write_set);
        subtract(&mut pending.loading, &instruction.write_set);
        pending.predicates &= !instruction.pred_writes;
        pending.awaited.intersects(&instruction.write_set)
            || pending.awaited_predicates & instruction.pred_writes != 0
    }

    /// Whether the warp has nothing pending.
    pub fn is_clear(&self, warp: usize) -> bool {
        let pending = &self.warps[warp];
        pending.writing.is_empty() && pending.predicates == 0
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
    use super::*;
    use crate::fixtures::{alu, load};

    fn check(scoreboard: &mut Scoreboard, warp: usize, instruction: &Instruction) -> Hazard {
        scoreboard.check(warp, &Needs::of(instruction, false))
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
            assert_eq!(check(&mut scoreboard, 0, instruction), *hazard, "{instruction:?}");
            assert_eq!(check(&mut scoreboard, 1, instruction), Hazard::None, "warps have nothing in common");
        }
        scoreboard.release(0, &alu(3, &[1, 2]));
        assert_eq!(check(&mut scoreboard, 0, &alu(4, &[3, 0])), Hazard::None);
    }

    #[test]
    fn a_release_says_whether_the_instruction_that_waits_may_go_on() {
        let mut scoreboard = Scoreboard::new();
        let others = [alu(3, &[1, 2]), load(70, 5), alu(8, &[1])];
        others.iter().for_each(|other| scoreboard.reserve(0, other, false));
        assert_eq!(check(&mut scoreboard, 0, &alu(4, &[70, 3])), Hazard::Execution);
        assert_eq!(others.map(|other| scoreboard.release(0, &other)), [true, true, false]);
        assert!(scoreboard.is_clear(0));
    }
}
