//! What the next instruction of each warp needs to issue: registers, predicates, a collector, the load/store unit.

use strata_ptx::isa::{Executor, Instruction, Op, Pc, RegSet};

use crate::collector::{Collectors, Target};
use crate::config::UnitKind;
use crate::execute::Units;
use crate::slots::Slots;

/// A kind of need besides registers: the index of a pool of collectors, twice, plus one for the load/store unit.
type Demand = u8;

/// More than there are kinds of need: one pool for each kind of unit, and none.
const DEMANDS: usize = (2 * UnitKind::COUNT + 1).next_power_of_two();

/// What the issue stage asks of an instruction of the kernel's code: a few words of it that lie side by side.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Registers that it reads or writes.
    pub uses: RegSet,
    /// Registers that it writes.
    pub writes: RegSet,
    /// Predicates that it reads or writes; bit n = predicate n.
    pub predicates: u32,
    /// Whether it waits until the load/store unit has all that the warp issued before.
    pub follows_memory: bool,
    /// Whether it is a barrier for the CTA.
    pub is_barrier: bool,
    demand: Demand,
}

impl Needs {
    /// What an instruction needs. Where lanes take a path of their own, that has to know of a warp's barriers in order
    /// with the memory instructions before them.
    pub fn of(instruction: &Instruction, has_lane_path: bool) -> Needs {
        let mut uses = instruction.read_set;
        uses.union_with(&instruction.write_set);
        Needs {
            uses,
            writes: instruction.write_set,
            predicates: instruction.pred_reads | instruction.pred_writes,
            follows_memory: instruction.follows_memory
                || has_lane_path && matches!(instruction.op, Op::WarpSync),
            is_barrier: instruction.op.is_barrier(),
            demand: 0,
        }
    }
}

/// By warp, the needs of its next instruction.
#[derive(Debug)]
pub struct Demands {
    /// By code index, for the kernel that runs.
    of: Vec<Needs>,
    /// By warp.
    next: Slots<Demand>,
    /// By demand: mask of warps.
    warps: [u64; DEMANDS],
    /// That of warps that need no collector.
    none: Demand,
}

impl Demands {
    /// For collectors in `pools` pools.
    pub fn new(pools: usize) -> Demands {
        let none = 2 * pools;
        let mut warps = [0; DEMANDS];
        warps[none] = u64::MAX;
        Demands { of: Vec::new(), next: Slots::new(|| none as u8), warps, none: none as u8 }
    }

    /// Takes the instructions of a kernel.
    pub fn prepare(
        &mut self,
        code: &[Instruction],
        units: &Units,
        collectors: &Collectors,
        has_lane_path: bool,
    ) {
        let none = self.none;
        let demand = |instruction: &Instruction| {
            let target = match instruction.executor {
                Executor::Control if instruction.reads.as_slice().is_empty() => return none,
                Executor::Control => Target::Control,
                _ => Target::Unit(units.kind_of(instruction.class)),
            };
            2 * collectors.pool_of(target) as u8 + u8::from(target == Target::Unit(UnitKind::Ldst))
        };
        let needs = |instruction: &Instruction| Needs {
            demand: demand(instruction),
            ..Needs::of(instruction, has_lane_path)
        };
        self.of.clear();
        self.of.extend(code.iter().map(needs));
    }

    /// Says which instruction is a warp's next. Returns what it needs.
    #[inline]
    pub fn set(&mut self, warp: usize, pc: Pc) -> &Needs {
        let needs = &self.of[pc as usize];
        let (old, new) = (self.next[warp], needs.demand);
        if old != new {
            self.next[warp] = new;
            self.warps[usize::from(old) % DEMANDS] &= !(1 << warp);
            self.warps[usize::from(new) % DEMANDS] |= 1 << warp;
        }
        needs
    }

    /// Mask of warps that need a collector of this pool.
    #[inline]
    pub fn of_pool(&self, pool: usize) -> u64 {
        self.warps[2 * pool % DEMANDS] | self.warps[(2 * pool + 1) % DEMANDS]
    }

    /// Mask of warps that need the load/store unit.
    #[inline]
    pub fn of_lsu(&self) -> u64 {
        self.warps.iter().skip(1).step_by(2).fold(0, |all, warps| all | warps)
    }
}
