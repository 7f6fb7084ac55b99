//! Fences: when a warp may proceed after `fence`, `membar`, and acquire and release operations.
//!
//! A fence first waits until its warp's earlier accesses are performed: loads have their bytes, the L1D has accepted
//! the stores, and atomics are answered, including those without a result. CTA scope needs no more, because the
//! threads of a CTA share the L1D. Wider scopes then flush the L1D: earlier writes become visible to other SMs, and
//! cached copies are dropped so that later loads see other SMs' writes. One flush serves every warp that was ready
//! when it began.
//!
//! A release is a fence before the operation; an acquire is a fence after it:
//!
//! | state      | event                              | next state                                     |
//! |------------|------------------------------------|------------------------------------------------|
//! | `None`     | fence, acquire or release issued   | `Draining`                                     |
//! | `Draining` | accesses performed, lane path      | `Draining` until the path has evicted its lines |
//! | `Draining` | accesses performed, CTA scope      | `None`; after a release see below              |
//! | `Draining` | accesses performed, wider scope    | `Ready`                                        |
//! | `Ready`    | no other flush under way           | `Flushing`                                     |
//! | `Flushing` | the L1D is flushed                 | `None`; after a release see below              |
//!
//! When a release's fence completes, its operation starts; if the operation also acquires, the state returns to
//! `Draining`.

use strata_engine::Cycle;
use strata_memory::doors::L1d;
use strata_ptx::isa::{Ordering, Scope};

use super::entry::Place;
use super::statistics::LsuStatistics;

/// State of a warp's fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceState {
    /// The warp has no fence.
    None,
    /// Waits for the warp's earlier accesses to be performed.
    Draining,
    /// Waits for the L1D's next flush to begin.
    Ready,
    /// Waits for the L1D's flush to end.
    Flushing,
}

/// An operation that waits for a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldBack {
    /// The operation's place in the instruction table.
    pub entry: Place,
    /// Whether another fence follows the operation.
    pub acquires: bool,
}

/// State of the flush at the end of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KernelEnd {
    None,
    /// Waits for every warp's accesses to be performed.
    Draining,
    Flushing,
    Done,
}

#[derive(Clone, Copy, Debug)]
struct Warp {
    /// Instructions and detached accesses that have yet to be performed.
    unperformed: u32,
    /// Cycle in which the warp's fence began.
    since: Cycle,
    held_back: Option<HeldBack>,
}

/// The fences of all warps of an SM. Bit n of every mask is warp slot n.
#[derive(Clone, Debug)]
pub struct Fences {
    warps: Vec<Warp>,
    /// Warps with accesses that have yet to be performed.
    busy: u64,
    draining: u64,
    ready: u64,
    flushing: u64,
    /// The three together.
    waiting: u64,
    /// Warps whose fence is at CTA scope.
    narrow: u64,
    /// Warps whose fence has yet to evict the lane path's lines, before its flush.
    unevicted: u64,
    /// Whether there is a lane path.
    evicts: bool,
    kernel_end: KernelEnd,
    /// Whether a warp waits, or the end of a kernel does.
    active: bool,
}

impl Fences {
    /// No fences, for `warps` warp slots, at most 64.
    pub fn new(warps: usize) -> Fences {
        let warp = Warp { unperformed: 0, since: Cycle::ZERO, held_back: None };
        Fences {
            warps: vec![warp; warps],
            busy: 0,
            draining: 0,
            ready: 0,
            flushing: 0,
            waiting: 0,
            narrow: 0,
            unevicted: 0,
            evicts: false,
            kernel_end: KernelEnd::None,
            active: false,
        }
    }

    /// Says whether there is a lane path, whose lines a fence evicts.
    pub fn evict(&mut self, evicts: bool) {
        self.evicts = evicts;
    }

    /// Adds one instruction or detached access that `warp` has yet to perform.
    #[inline]
    pub fn open(&mut self, warp: u8) {
        self.warps[usize::from(warp)].unperformed += 1;
        self.busy |= 1 << warp;
    }

    /// Records that `warp` has performed one of them.
    #[inline]
    pub fn close(&mut self, warp: u8) {
        let unperformed = &mut self.warps[usize::from(warp)].unperformed;
        *unperformed -= 1;
        if *unperformed == 0 {
            self.busy &= !(1 << warp);
        }
    }

    /// Instructions and detached accesses that the warp has yet to perform, plus an operation held back by its fence.
    pub fn unperformed(&self, warp: u8) -> u32 {
        let warp = &self.warps[usize::from(warp)];
        warp.unperformed + u32::from(warp.held_back.is_some())
    }

    /// Starts a fence, which may hold back an operation until it completes.
    ///
    /// # Panics
    /// When the warp already has a fence: it must not issue until that one completes.
    pub fn begin(&mut self, warp: u8, scope: Scope, held_back: Option<HeldBack>, now: Cycle) {
        let bit = 1 << warp;
        assert!(self.waiting() & bit == 0, "warp {warp} issued behind its own fence");
        self.draining |= bit;
        self.unevicted |= if self.evicts { bit } else { 0 };
        (self.waiting, self.active) = (self.waiting | bit, true);
        self.narrow = if scope == Scope::Cta { self.narrow | bit } else { self.narrow & !bit };
        let warp = &mut self.warps[usize::from(warp)];
        (warp.since, warp.held_back) = (now, held_back);
    }

    /// Mask of warps that wait for a fence.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// The state of a warp's fence.
    pub fn state(&self, warp: u8) -> FenceState {
        let bit = 1 << warp;
        if self.draining & bit != 0 {
            FenceState::Draining
        } else if self.ready & bit != 0 {
            FenceState::Ready
        } else if self.flushing & bit != 0 {
            FenceState::Flushing
        } else {
            FenceState::None
        }
    }

    /// Advances every fence as far as it can go. Returns the mask of warps whose fences are complete.
    #[inline]
    pub fn step(&mut self, l1d: &mut (impl L1d + ?Sized), now: Cycle, statistics: &mut LsuStatistics) -> u64 {
        let drained = self.draining & !self.busy & !self.unevicted;
        self.draining &= !drained;
        self.ready |= drained & !self.narrow;
        let mut done = drained & self.narrow;
        let mut is_flushing = self.flushing != 0 || self.kernel_end == KernelEnd::Flushing;
        if is_flushing && l1d.is_flushed() {
            done |= self.flushing;
            self.flushing = 0;
            is_flushing = false;
            if self.kernel_end == KernelEnd::Flushing {
                self.kernel_end = KernelEnd::Done;
            }
        }
        let ends = self.kernel_end == KernelEnd::Draining && self.busy == 0 && self.draining == 0;
        if !is_flushing && (self.ready != 0 || ends) {
            l1d.begin_flush(true, now);
            statistics.flushes += 1;
            (self.flushing, self.ready) = (self.ready, 0);
            if ends {
                self.kernel_end = KernelEnd::Flushing;
            }
        }
        self.waiting = self.draining | self.ready | self.flushing;
        self.active =
            self.waiting != 0 || matches!(self.kernel_end, KernelEnd::Draining | KernelEnd::Flushing);
        done
    }

    /// The warps whose accesses are performed and whose fence now evicts the lane path's lines; those count as an access
    /// of the warp. Call it before [`Fences::step`].
    #[inline]
    pub fn evicting(&mut self) -> u64 {
        let evicting = self.unevicted & self.draining & !self.busy;
        self.unevicted &= !evicting;
        evicting
    }

    /// Ends the fence of a warp that [`Fences::step`] returned, and returns the operation it held back. If that
    /// operation acquires, a second fence starts for the warp.
    pub fn finish(&mut self, warp: u8, now: Cycle, statistics: &mut LsuStatistics) -> Option<Place> {
        let bit = 1 << warp;
        let state = &mut self.warps[usize::from(warp)];
        statistics.fences += 1;
        statistics.fence_cycles += now.since(state.since);
        let held_back = state.held_back.take()?;
        if held_back.acquires {
            state.since = now;
            self.draining |= bit;
            self.unevicted |= if self.evicts { bit } else { 0 };
            (self.waiting, self.active) = (self.waiting | bit, true);
        }
        Some(held_back.entry)
    }

    /// Requests the flush at the end of a kernel, to begin once every access is performed.
    pub fn end_kernel(&mut self) {
        (self.kernel_end, self.active) = (KernelEnd::Draining, true);
    }

    /// Whether [`Fences::step`] has anything to do.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Whether the flush requested by [`Fences::end_kernel`] is done.
    pub fn has_ended_kernel(&self) -> bool {
        self.kernel_end == KernelEnd::Done
    }

    /// Whether the flush requested by [`Fences::end_kernel`] is done; returns true once per request.
    pub fn kernel_ended(&mut self) -> bool {
        let done = self.kernel_end == KernelEnd::Done;
        if done {
            self.kernel_end = KernelEnd::None;
        }
        done
    }

    /// Earliest cycle in which [`Fences::step`] makes progress, on its own or because the L1D did.
    pub fn next_event(&self, l1d: &(impl L1d + ?Sized), now: Cycle) -> Cycle {
        if !self.is_active() {
            return Cycle::NEVER;
        }
        let is_flushing = self.flushing != 0 || self.kernel_end == KernelEnd::Flushing;
        let ends = self.kernel_end == KernelEnd::Draining && self.busy == 0 && self.draining == 0;
        let steps = self.draining & !self.busy != 0
            || (!is_flushing && (self.ready != 0 || ends))
            || (is_flushing && l1d.is_flushed());
        if steps { now } else { Cycle::NEVER }
    }
}

/// Whether an operation of this ordering needs a fence before it.
pub const fn releases(ordering: Ordering) -> bool {
    matches!(ordering, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

/// Whether an operation of this ordering needs a fence after it.
pub const fn acquires(ordering: Ordering) -> bool {
    matches!(ordering, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}
