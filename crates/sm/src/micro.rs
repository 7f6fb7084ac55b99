//! Instructions as the SM carries them out: what of them is known before they run.

use std::sync::{Arc, OnceLock};

use strata_memory::RegisterBanks;
use strata_memory::register_banks::Footprint;
use strata_ptx::back::Accesses;
use strata_ptx::exec::{InPlaces, Routine, routine};
use strata_ptx::isa::{Class, Dst, Executor, Guard, Instruction, Op};

use crate::collector::Collectors;
use crate::config::UnitKind;
use crate::demands::Demand;
use crate::target::Target;

/// A kernel's code as the SMs of a machine carry it out. They are alike, so the first one makes it, and the others share it.
#[derive(Clone, Debug, Default)]
pub struct MicroCode(OnceLock<Arc<[MicroOp]>>);

impl MicroCode {
    /// The code, made if nobody has.
    pub(crate) fn get(&self, code: &[Instruction], sm: &Pipeline<'_>) -> Arc<[MicroOp]> {
        let make = || {
            let mut micro: Arc<[MicroOp]> =
                code.iter().map(|instruction| MicroOp::new(instruction, sm)).collect();
            let of_code = Arc::get_mut(&mut micro).expect("nobody has it yet");
            for (micro, accesses) in of_code.iter_mut().zip(sm.accesses) {
                micro.reads = accesses.reads.as_slice().len() as u8;
            }
            micro
        };
        self.0.get_or_init(make).clone()
    }
}

/// What of an SM decides how it carries instructions out.
pub(crate) struct Pipeline<'a> {
    /// The kind of unit for a class.
    pub kind_of: &'a dyn Fn(Class) -> UnitKind,
    /// Whether a warp issues nothing else until a result of the class is there.
    pub is_subroutine: &'a dyn Fn(Class) -> bool,
    pub collectors: &'a Collectors,
    /// The register file's banks, if it consists of these.
    pub banks: Option<&'a RegisterBanks>,
    /// What each instruction accesses; empty if that is its rows.
    pub accesses: &'a [Accesses],
    /// Whether lanes take a path of their own, which has to know of a warp's barriers in order with the memory instructions
    /// before them.
    pub has_lane_path: bool,
}

/// An instruction, in the few words that the pipeline asks for.
#[derive(Clone, Copy, Debug)]
pub struct MicroOp {
    /// Registers that it reads or writes,
    pub uses: u64,
    /// and those that it writes: of the first 64.
    pub writes: u64,
    /// Whether these are all.
    pub is_narrow: bool,
    /// Whether it waits until the load/store unit has all that the warp issued before.
    pub follows_memory: bool,
    /// Whether it is a barrier for the CTA.
    pub is_barrier: bool,
    /// Whether it may have to wait for lanes of the warp that are elsewhere.
    pub waits_for_lanes: bool,
    /// Whether the warp issues nothing else until its result is there.
    pub is_subroutine: bool,
    pub(crate) demand: Demand,
    /// Predicates that it reads or writes; bit n = predicate n.
    pub predicates: u32,
    /// Those that it writes.
    pub pred_writes: u32,
    /// Its lanes.
    pub guard: Guard,
    /// Its timing class.
    pub class: Class,
    /// Where it goes from a collector, in the first sub-core; `None` if it needs none.
    pub target: Option<Target>,
    /// How many reads of the register file bring its operands.
    pub reads: u8,
    /// What executes it as it issues; `None` if its operands are collected first.
    pub routine: Option<Routine<InPlaces>>,
    /// The banks of the rows that it reads,
    pub reads_from: Footprint,
    /// and of those that it writes.
    pub writes_to: Footprint,
}

impl MicroOp {
    /// An instruction in an SM.
    pub(crate) fn new(instruction: &Instruction, sm: &Pipeline<'_>) -> MicroOp {
        let target = match instruction.executor {
            Executor::Control if instruction.reads.as_slice().is_empty() => None,
            Executor::Control => Some(Target::CONTROL),
            _ => Some(Target::unit((sm.kind_of)(instruction.class))),
        };
        let is_sync = sm.has_lane_path && matches!(instruction.op, Op::WarpSync);
        let footprint =
            |registers| sm.banks.map_or_else(Footprint::default, |banks| banks.footprint(registers));
        let in_place = sm.banks.is_some() && executes_at_issue(instruction);
        MicroOp {
            follows_memory: instruction.follows_memory || is_sync,
            is_subroutine: target.is_some_and(|target| target != Target::CONTROL)
                && (sm.is_subroutine)(instruction.class),
            demand: Demand::of(target, sm.collectors),
            target,
            routine: in_place.then(|| routine::<InPlaces>(instruction)),
            reads_from: footprint(instruction.reads.as_slice()),
            writes_to: footprint(instruction.writes.as_slice()),
            ..MicroOp::hazards(instruction)
        }
    }

    /// Whether it may write a register.
    #[inline(always)]
    pub fn writes_any(&self) -> bool {
        self.writes != 0 || !self.is_narrow
    }

    /// What of it the scoreboard asks.
    pub(crate) fn hazards(instruction: &Instruction) -> MicroOp {
        let mut uses = instruction.read_set;
        uses.union_with(&instruction.write_set);
        MicroOp {
            uses: uses.0[0],
            writes: instruction.write_set.0[0],
            is_narrow: uses.0[1..].iter().all(|word| *word == 0),
            follows_memory: instruction.follows_memory,
            is_barrier: instruction.op.is_barrier(),
            waits_for_lanes: instruction.op.is_barrier() || instruction.gathers,
            is_subroutine: false,
            demand: Demand::NONE,
            predicates: instruction.pred_reads | instruction.pred_writes,
            pred_writes: instruction.pred_writes,
            guard: instruction.guard,
            class: instruction.class,
            target: None,
            reads: instruction.reads.as_slice().len() as u8,
            routine: None,
            reads_from: Footprint::default(),
            writes_to: Footprint::default(),
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

#[cfg(test)]
mod tests {
    use strata_ptx::isa::{Reg, Special, Ty};

    use super::*;
    use crate::fixtures::{alu, load};

    fn with(op: Op, dst: &[u8]) -> Instruction {
        let mut instruction = Instruction::new(op);
        for (slot, register) in dst.iter().enumerate() {
            instruction.dst[slot] = Dst::Reg(Reg(*register));
            instruction.writes.push(Reg(*register));
        }
        instruction
    }

    #[test]
    fn what_depends_on_time_or_names_registers_late_does_not_execute_at_issue() {
        assert!(executes_at_issue(&alu(3, &[1, 2])));
        assert!(executes_at_issue(&with(Op::ReadSpecial(Special::LaneId), &[1])));
        assert!(!executes_at_issue(&with(Op::ReadSpecial(Special::Clock), &[1])));
        assert!(!executes_at_issue(&with(Op::MovFromArray { registers: 4 }, &[1])));
        assert!(!executes_at_issue(&with(Op::MovToArray { registers: 4 }, &[])));
        assert!(!executes_at_issue(&load(3, 1)));
    }

    #[test]
    fn a_row_that_is_written_twice_is_written_in_turn() {
        let unpack = Op::Unpack { whole: Ty::B64, pieces: 2 };
        assert!(executes_at_issue(&with(unpack, &[4, 5])));
        assert!(!executes_at_issue(&with(unpack, &[4, 4])));
    }
}
