//! What the next instruction of each warp needs to issue, besides its registers: a collector, the load/store unit.

use strata_ptx::isa::{Executor, Instruction};

use crate::collector::{Collectors, Target};
use crate::config::UnitKind;
use crate::execute::Units;
use crate::slots::Slots;

/// A kind of need: the index of a pool of collectors, twice, plus one for the load/store unit.
type Demand = u8;

/// By warp, the needs of its next instruction.
#[derive(Debug)]
pub struct Demands {
    /// By code index, for the kernel that runs.
    of: Vec<Demand>,
    /// By warp.
    next: Slots<Demand>,
    /// By demand: mask of warps. The last is that of warps that need no collector.
    warps: Vec<u64>,
}

impl Demands {
    /// For collectors in `pools` pools.
    pub fn new(pools: usize) -> Demands {
        let mut masks = vec![0; 2 * pools + 1];
        masks[2 * pools] = u64::MAX;
        Demands { of: Vec::new(), next: Slots::new(|| 2 * pools as u8), warps: masks }
    }

    /// Takes the instructions of a kernel.
    pub fn prepare(&mut self, code: &[Instruction], units: &Units, collectors: &Collectors) {
        let none = self.warps.len() as u8 - 1;
        let of = |instruction: &Instruction| {
            let target = match instruction.executor {
                Executor::Control if instruction.reads.as_slice().is_empty() => return none,
                Executor::Control => Target::Control,
                _ => Target::Unit(units.kind_of(instruction.class)),
            };
            2 * collectors.pool_of(target) as u8 + u8::from(target == Target::Unit(UnitKind::Ldst))
        };
        self.of.clear();
        self.of.extend(code.iter().map(of));
    }

    /// Says which instruction is a warp's next.
    #[inline]
    pub fn set(&mut self, warp: usize, pc: usize) {
        let (old, new) = (self.next[warp], self.of[pc]);
        if old != new {
            self.next[warp] = new;
            self.warps[usize::from(old)] &= !(1 << warp);
            self.warps[usize::from(new)] |= 1 << warp;
        }
    }

    /// Mask of warps that need a collector of this pool.
    #[inline]
    pub fn of_pool(&self, pool: usize) -> u64 {
        self.warps[2 * pool] | self.warps[2 * pool + 1]
    }

    /// Mask of warps that need the load/store unit.
    #[inline]
    pub fn of_lsu(&self) -> u64 {
        self.warps.iter().skip(1).step_by(2).fold(0, |all, warps| all | warps)
    }
}
