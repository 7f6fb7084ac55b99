//! The instructions of a kernel, prepared once a launch for [`Cta::run_straight`](super::cta::Cta::run_straight).

use super::plain::{self, Plain};
use crate::exec::{InPlaces, Routine, routine};
use crate::isa::{Executor, Instruction, Op};

/// How an instruction is carried out in a run.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// It only computes.
    Lanes(Routine<InPlaces>),
    /// A load or store, which may turn out not to be plain.
    Memory(Plain),
    /// A branch to the instruction's target, which ends a run.
    Branch,
    /// None of these.
    Apart,
}

/// An instruction, prepared.
pub(super) struct Step {
    pub way: Way,
    /// Instructions of the longest run from here: they follow each other, and only the last may branch.
    pub length: u32,
}

impl Step {
    /// Prepares all instructions of a kernel.
    pub fn all(code: &[Instruction]) -> Vec<Step> {
        let mut length = 0;
        let step = |instruction: &Instruction| {
            let way = way(instruction);
            length = match way {
                Way::Lanes(_) | Way::Memory(_) => length + 1,
                Way::Branch => 1,
                Way::Apart => 0,
            };
            Step { way, length }
        };
        let mut steps: Vec<Step> = code.iter().rev().map(step).collect();
        steps.reverse();
        steps
    }
}

fn way(instruction: &Instruction) -> Way {
    match (instruction.executor, instruction.op) {
        // What a clock shows is counted instruction by instruction.
        (_, Op::ReadSpecial(special)) if !special.is_stable() => Way::Apart,
        _ if instruction.gathers => Way::Apart,
        (Executor::Lanes, _) => Way::Lanes(routine::<InPlaces>(instruction)),
        (Executor::Memory, _) => plain::of(instruction).map_or(Way::Apart, Way::Memory),
        (_, Op::Branch { .. }) => Way::Branch,
        (Executor::Texels | Executor::Control, _) => Way::Apart,
    }
}
