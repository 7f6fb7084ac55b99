//! The scoreboard: tracks each warp's pending writes of registers and predicates.

use strata_ptx::isa::{Instruction, RegSet};

use crate::micro::MicroOp;
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

/// What an instruction waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A register, by its number.
    Register(usize),
    /// A predicate.
    Predicate(usize),
}

/// Pending registers of one warp, kept in neighbouring cache lines because they are checked together.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Pending {
    /// Registers that instructions in flight will write.
    writing: RegSet,
    /// The subset of `writing` that memory instructions will write.
    loading: RegSet,
    /// Registers that the last instruction with a hazard reads or writes; beyond the first 64, perhaps those of an earlier one.
    awaited: RegSet,
    /// Predicates that instructions in flight will write.
    predicates: u32,
    /// Predicates that the last instruction with a hazard reads or writes.
    awaited_predicates: u32,
}

impl Pending {
    /// As [`Scoreboard::check`], of an instruction that names registers beyond the first 64; so are the other two.
    #[inline(never)]
    fn check_wide(&mut self, micro: &MicroOp, instruction: &Instruction) -> Hazard {
        let mut uses = instruction.read_set;
        uses.union_with(&instruction.write_set);
        if !self.writing.intersects(&uses) && self.predicates & micro.predicates == 0 {
            return Hazard::None;
        }
        (self.awaited, self.awaited_predicates) = (uses, micro.predicates);
        if self.loading.intersects(&uses) { Hazard::Memory } else { Hazard::Execution }
    }

    #[inline(never)]
    fn reserve_wide(&mut self, instruction: &Instruction, memory: bool) {
        self.writing.union_with(&instruction.write_set);
        if memory {
            self.loading.union_with(&instruction.write_set);
        }
    }

    #[inline(never)]
    fn release_wide(&mut self, instruction: &Instruction) -> bool {
        subtract(&mut self.writing, &instruction.write_set);
        subtract(&mut self.loading, &instruction.write_set);
        self.awaited.intersects(&instruction.write_set)
    }
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
    #[inline(always)]
    pub fn check(&mut self, warp: usize, micro: &MicroOp, instruction: &Instruction) -> Hazard {
        let pending = &mut self.warps[warp];
        if !micro.is_narrow {
            return pending.check_wide(micro, instruction);
        }
        if pending.writing.0[0] & micro.uses == 0 && pending.predicates & micro.predicates == 0 {
            return Hazard::None;
        }
        (pending.awaited.0[0], pending.awaited_predicates) = (micro.uses, micro.predicates);
        if pending.loading.0[0] & micro.uses != 0 { Hazard::Memory } else { Hazard::Execution }
    }

    /// Marks an issuing instruction's destinations as pending. `memory` says that the load/store unit will write
    /// them.
    #[inline(always)]
    pub fn reserve(&mut self, warp: usize, micro: &MicroOp, instruction: &Instruction, memory: bool) {
        let pending = &mut self.warps[warp];
        pending.predicates |= micro.pred_writes;
        if !micro.is_narrow {
            return pending.reserve_wide(instruction, memory);
        }
        pending.writing.0[0] |= micro.writes;
        if memory {
            pending.loading.0[0] |= micro.writes;
        }
    }

    /// Clears the destinations of an instruction that has written them. Returns whether the instruction that waits, if
    /// any does, may wait for one of them.
    #[inline(always)]
    pub fn release(&mut self, warp: usize, micro: &MicroOp, instruction: &Instruction) -> bool {
        let pending = &mut self.warps[warp];
        pending.predicates &= !micro.pred_writes;
        let is_awaited = pending.awaited_predicates & micro.pred_writes != 0;
        if !micro.is_narrow {
            return pending.release_wide(instruction) || is_awaited;
        }
        pending.writing.0[0] &= !micro.writes;
        pending.loading.0[0] &= !micro.writes;
        pending.awaited.0[0] & micro.writes != 0 || is_awaited
    }

    /// A register or predicate that a warp's next instruction waits for, after a [`Scoreboard::check`] that found a hazard: with
    /// `memory`, a register that memory will write.
    pub fn awaited(&self, warp: usize, micro: &MicroOp, memory: bool) -> Option<Awaited> {
        let pending = &self.warps[warp];
        let uses = if micro.is_narrow { [micro.uses, 0, 0, 0] } else { pending.awaited.0 };
        let writing = if memory { &pending.loading } else { &pending.writing };
        let waits = (0..uses.len()).find(|word| writing.0[*word] & uses[*word] != 0);
        let predicates = pending.predicates & micro.predicates;
        match waits {
            Some(word) => {
                let bit = (writing.0[word] & uses[word]).trailing_zeros();
                Some(Awaited::Register(64 * word + bit as usize))
            }
            None if predicates != 0 => Some(Awaited::Predicate(predicates.trailing_zeros() as usize)),
            None => None,
        }
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

    fn reserve(scoreboard: &mut Scoreboard, warp: usize, instruction: &Instruction, memory: bool) {
        scoreboard.reserve(warp, &MicroOp::hazards(instruction), instruction, memory);
    }

    fn release(scoreboard: &mut Scoreboard, warp: usize, instruction: &Instruction) -> bool {
        scoreboard.release(warp, &MicroOp::hazards(instruction), instruction)
    }

    fn check(scoreboard: &mut Scoreboard, warp: usize, instruction: &Instruction) -> Hazard {
        scoreboard.check(warp, &MicroOp::hazards(instruction), instruction)
    }

    #[test]
    fn hazards() {
        let mut scoreboard = Scoreboard::new();
        reserve(&mut scoreboard, 0, &alu(3, &[1, 2]), false);
        reserve(&mut scoreboard, 0, &load(70, 5), true);
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
        release(&mut scoreboard, 0, &alu(3, &[1, 2]));
        assert_eq!(check(&mut scoreboard, 0, &alu(4, &[3, 0])), Hazard::None);
    }

    #[test]
    fn a_release_says_whether_the_instruction_that_waits_may_go_on() {
        let mut scoreboard = Scoreboard::new();
        let others = [alu(3, &[1, 2]), load(70, 5), alu(8, &[1])];
        others.iter().for_each(|other| reserve(&mut scoreboard, 0, other, false));
        assert_eq!(check(&mut scoreboard, 0, &alu(4, &[70, 3])), Hazard::Execution);
        assert_eq!(others.map(|other| release(&mut scoreboard, 0, &other)), [true, true, false]);
        assert!(scoreboard.is_clear(0));
    }
}
