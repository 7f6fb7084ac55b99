//! The state of an SM's warps, by warp slot.

use strata_engine::Cycle;
use strata_memory::bits::members;
use strata_ptx::exec::{Operands, WarpContext, guarded};
use strata_ptx::isa::{Guard, Pc, PredReg};
use strata_ptx::lanes::{LaneMask, Row};
use strata_ptx::simt::SimtStack;

use crate::collector::PREDICATES;
use crate::slots::Slots;

/// The result of a barrier reduction for a waiting warp.
#[derive(Clone, Copy, Debug, Default)]
pub struct BarrierResult {
    /// Index of the barrier instruction in the kernel's code.
    pub pc: Pc,
    /// Lanes that receive the result.
    pub lanes: LaneMask,
    /// A count, or for a predicate all ones or all zeros.
    pub value: u32,
}

/// The warp slots as a structure of arrays. Sets of warps are masks with one bit per slot.
#[derive(Debug)]
pub struct Warps {
    /// Number of warp slots.
    pub slots: u32,
    /// Reconvergence stack of each warp.
    pub simt: Slots<SimtStack>,
    /// Predicate registers of each warp, one bit per lane.
    pub predicates: Slots<[LaneMask; PREDICATES]>,
    /// Special register values of each warp, except clocks.
    pub contexts: Slots<WarpContext>,
    /// CTA slot of each warp.
    pub cta: Slots<u8>,
    /// Instructions of each warp that have issued and not finished.
    pub in_flight: Slots<u32>,
    /// Cycle in which each sleeping warp wakes.
    pub wake: Slots<Cycle>,
    /// The result that a barrier will write, or has computed, for each warp.
    pub barrier_results: Slots<BarrierResult>,

    /// Warps that have started and whose CTA still holds their slot.
    pub resident: u64,
    /// Resident warps whose lanes have all exited.
    pub exited: u64,
    /// Warps whose next instruction waits for a pending register or predicate, or for others before it.
    pub blocked: u64,
    /// Blocked warps that wait for a value from memory.
    pub blocked_by_memory: u64,
    /// Blocked warps that wait until collectors have read a register.
    pub blocked_by_reads: u64,
    /// Warps whose `blocked` bit must be recomputed.
    pub dirty: u64,
    /// Warps waiting at a barrier.
    pub at_barrier: u64,
    /// Warps waiting for a fence.
    pub at_fence: u64,
    /// Warps waiting for asynchronous copies.
    pub at_copies: u64,
    /// Warps sleeping in `nanosleep`.
    pub asleep: u64,
    /// Warps whose control instruction waits for its register operands.
    pub resolving: u64,
    /// Warps that wait for a subroutine's result.
    pub in_subroutine: u64,
    /// Warps with a barrier result ready to write.
    pub barrier_results_due: u64,
}

impl Warps {
    /// `count` empty warp slots.
    pub fn new(count: usize) -> Self {
        Warps {
            slots: count as u32,
            simt: Slots::new(|| SimtStack::new(0)),
            predicates: Slots::new(|| [0; PREDICATES]),
            contexts: Slots::new(WarpContext::default),
            cta: Slots::new(|| 0),
            in_flight: Slots::new(|| 0),
            wake: Slots::new(|| Cycle::NEVER),
            barrier_results: Slots::new(BarrierResult::default),
            resident: 0,
            exited: 0,
            blocked: 0,
            blocked_by_memory: 0,
            blocked_by_reads: 0,
            dirty: 0,
            at_barrier: 0,
            at_fence: 0,
            at_copies: 0,
            asleep: 0,
            resolving: 0,
            in_subroutine: 0,
            barrier_results_due: 0,
        }
    }

    /// Starts a warp in a slot of CTA slot `cta`, with the given live lanes.
    pub fn start(&mut self, warp: usize, cta: u8, lanes: LaneMask, context: WarpContext) {
        let bit = 1 << warp;
        self.simt[warp].reset(lanes);
        self.predicates[warp] = [0; PREDICATES];
        self.contexts[warp] = context;
        self.cta[warp] = cta;
        self.in_flight[warp] = 0;
        self.resident |= bit;
        self.exited &= !bit;
        self.dirty |= bit;
    }

    /// Warps that cannot issue, whatever their next instruction is.
    #[inline]
    pub fn held(&self) -> u64 {
        self.at_barrier | self.at_fence | self.at_copies | self.asleep | self.resolving | self.exited
    }

    /// Marks those of `warps` that are blocked for re-evaluation, after something that they may wait for has come.
    #[inline]
    pub fn recheck(&mut self, warps: u64) {
        self.dirty |= warps & self.blocked;
    }

    /// Lanes of a warp that execute an instruction with this guard.
    #[inline]
    pub fn guarded(&self, warp: usize, guard: Guard) -> LaneMask {
        guarded(guard, self.simt[warp].active(), &Predicates(&self.predicates[warp]))
    }

    /// Earliest cycle in which a sleeping warp wakes.
    pub fn next_wake(&self) -> Cycle {
        members(self.asleep).map(|warp| self.wake[warp]).min().unwrap_or(Cycle::NEVER)
    }
}

/// Operands that consist of predicates only, enough to evaluate a guard.
pub struct Predicates<'a>(pub &'a [LaneMask; PREDICATES]);

impl Operands for Predicates<'_> {
    fn source(&self, slot: usize, _half: usize) -> &Row {
        panic!("source {slot} of control flow is not a predicate")
    }

    fn write(&mut self, _slot: usize, _half: usize, _lanes: LaneMask, _value: &Row) {
        panic!("a guard writes nothing")
    }

    #[inline]
    fn predicate(&self, register: PredReg) -> LaneMask {
        self.0[register.0 as usize]
    }

    fn write_predicate(&mut self, _register: PredReg, _lanes: LaneMask, _value: LaneMask) {
        panic!("a guard writes nothing")
    }
}
