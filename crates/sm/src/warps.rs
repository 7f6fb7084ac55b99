//! What an SM remembers of its warps, by warp slot.

use strata_engine::Cycle;
use strata_ptx::exec::{Operands, WarpContext, guarded};
use strata_ptx::isa::{Guard, Pc, PredReg};
use strata_ptx::lanes::{LaneMask, Row};
use strata_ptx::simt::SimtStack;

use crate::collector::PREDICATES;

/// A reduction that a barrier has computed for a waiting warp.
#[derive(Clone, Copy, Debug, Default)]
pub struct BarrierResult {
    /// Where the barrier instruction stands.
    pub pc: Pc,
    /// Lanes that get the result.
    pub lanes: LaneMask,
    /// A count, or all ones or zeros for a predicate.
    pub value: u32,
}

/// Warp slots as a structure of arrays; sets of warps are masks of one bit a slot.
#[derive(Debug)]
pub struct Warps {
    /// Control flow.
    pub simt: Vec<SimtStack>,
    /// Predicate registers, one bit a lane.
    pub predicates: Vec<[LaneMask; PREDICATES]>,
    /// Values of special registers, clocks apart.
    pub contexts: Vec<WarpContext>,
    /// CTA slot.
    pub cta: Vec<u8>,
    /// Instructions issued that have not finished.
    pub in_flight: Vec<u32>,
    /// When a sleeping warp wakes.
    pub wake: Vec<Cycle>,
    /// What a barrier will write, or has computed.
    pub barrier_results: Vec<BarrierResult>,

    /// Warps that have started and whose CTA has not given the slot back.
    pub resident: u64,
    /// Of those, the ones all of whose lanes have ended.
    pub exited: u64,
    /// The next instruction waits for a register that an execution unit, or a collector, has.
    pub blocked: u64,
    /// Of those, the ones that wait for memory.
    pub blocked_by_memory: u64,
    /// `blocked` must be found anew.
    pub dirty: u64,
    /// At a barrier.
    pub at_barrier: u64,
    /// At a fence.
    pub at_fence: u64,
    /// Waiting for asynchronous copies.
    pub at_copies: u64,
    /// In `nanosleep`.
    pub asleep: u64,
    /// Control flow waits for registers.
    pub resolving: u64,
    /// A barrier's result is to be written.
    pub barrier_results_due: u64,
}

impl Warps {
    /// `count` empty slots.
    pub fn new(count: usize) -> Self {
        Warps {
            simt: vec![SimtStack::new(0); count],
            predicates: vec![[0; PREDICATES]; count],
            contexts: vec![WarpContext::default(); count],
            cta: vec![0; count],
            in_flight: vec![0; count],
            wake: vec![Cycle::NEVER; count],
            barrier_results: vec![BarrierResult::default(); count],
            resident: 0,
            exited: 0,
            blocked: 0,
            blocked_by_memory: 0,
            dirty: 0,
            at_barrier: 0,
            at_fence: 0,
            at_copies: 0,
            asleep: 0,
            resolving: 0,
            barrier_results_due: 0,
        }
    }

    /// A warp starts in a slot with these lanes.
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

    /// Warps that may not issue whatever their next instruction is.
    #[inline]
    pub fn held(&self) -> u64 {
        self.at_barrier | self.at_fence | self.at_copies | self.asleep | self.resolving | self.exited
    }

    /// Registers of these warps were released: those that wait for one are looked at again. A warp that waits
    /// for none cannot be held up by a release.
    #[inline]
    pub fn recheck(&mut self, warps: u64) {
        self.dirty |= warps & self.blocked;
    }

    /// The lanes that execute an instruction.
    #[inline]
    pub fn guarded(&self, warp: usize, guard: Guard) -> LaneMask {
        guarded(guard, self.simt[warp].active(), &Predicates(&self.predicates[warp]))
    }

    /// When the first sleeping warp wakes.
    pub fn next_wake(&self) -> Cycle {
        bits(self.asleep).map(|warp| self.wake[warp]).min().unwrap_or(Cycle::NEVER)
    }
}

/// The positions of the bits of a mask, lowest first.
#[inline]
pub fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let bit = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(bit)
    })
}

/// Predicates alone, as operands: enough to find a guard's lanes.
pub struct Predicates<'a>(pub &'a [LaneMask; PREDICATES]);

impl Operands for Predicates<'_> {
    fn source(&self, slot: usize, _half: usize) -> &Row {
        panic!("source {slot} of control flow is no predicate")
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
