//! The warps whose next instructions need a collector, or the load/store unit.

use crate::collector::Collectors;
use crate::config::UnitKind;
use crate::slots::Slots;
use crate::target::Target;

/// More than there are kinds of need: a pool for each kind of unit, with and without the load/store unit, and none.
const DEMANDS: usize = (2 * UnitKind::COUNT + 1).next_power_of_two();

/// What an instruction needs to issue besides registers: no collector (0), or one of pool n (2 n + 1; for the load/store unit, 2 n + 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand(u8);

impl Demand {
    /// No collector.
    pub const NONE: Demand = Demand(0);

    /// A collector of the pool that serves a target.
    pub fn of(target: Option<Target>, collectors: &Collectors) -> Demand {
        target.map_or(Demand::NONE, |target| {
            let is_memory = target == Target::MEMORY;
            Demand(2 * collectors.pool_of(target) as u8 + 1 + u8::from(is_memory))
        })
    }
}

/// By warp, what its next instruction needs.
#[derive(Debug)]
pub struct Demands {
    /// By warp.
    next: Slots<Demand>,
    /// By demand: mask of warps.
    warps: [u64; DEMANDS],
}

impl Demands {
    /// Of warps that need no collector.
    pub fn new() -> Demands {
        let mut warps = [0; DEMANDS];
        warps[0] = u64::MAX;
        Demands { next: Slots::new(|| Demand::NONE), warps }
    }

    /// Says what a warp's next instruction needs.
    #[inline]
    pub fn set(&mut self, warp: usize, new: Demand) {
        let old = self.next[warp];
        if old != new {
            self.next[warp] = new;
            self.warps[usize::from(old.0) % DEMANDS] &= !(1 << warp);
            self.warps[usize::from(new.0) % DEMANDS] |= 1 << warp;
        }
    }

    /// Mask of warps that need a collector of this pool.
    #[inline]
    pub fn of_pool(&self, pool: usize) -> u64 {
        self.warps[(2 * pool + 1) % DEMANDS] | self.warps[(2 * pool + 2) % DEMANDS]
    }

    /// Mask of warps that need the load/store unit.
    #[inline]
    pub fn of_lsu(&self) -> u64 {
        self.warps.iter().skip(2).step_by(2).fold(0, |all, warps| all | warps)
    }
}
