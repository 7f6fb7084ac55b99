//! Fences: when a warp may go on after `fence`, `membar`, acquire and release operations.
//!
//! A fence first waits until every earlier access of its warp is performed: loads have their bytes, the L1D
//! has taken the stores, atomics (those without a result too) are answered. That is all at CTA scope: the
//! threads of a CTA share the L1D. At wider scopes the L1D is then flushed: what it holds of earlier writes
//! becomes visible to other SMs, and its copies are dropped so that later loads see what others wrote. One
//! flush serves every warp that was ready when it began.
//!
//! A release is a fence before the operation, an acquire one after it:
//!
//! | state      | event                              | next state                                     |
//! |------------|------------------------------------|------------------------------------------------|
//! | `None`     | fence, acquire or release issued   | `Draining`                                     |
//! | `Draining` | accesses performed, CTA scope      | `None`; after a release see below              |
//! | `Draining` | accesses performed, wider scope    | `Ready`                                        |
//! | `Ready`    | no other flush under way           | `Flushing`                                     |
//! | `Flushing` | the L1D is flushed                 | `None`; after a release see below              |
//!
//! When a release's fence is done its operation starts; if it also acquires, the state is `Draining` again.

use strata_engine::Cycle;
use strata_memory::doors::L1d;
use strata_ptx::isa::{Ordering, Scope};

use super::entry::Place;
use super::statistics::LsuStatistics;

/// Where a warp's fence stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceState {
    /// No fence.
    None,
    /// Earlier accesses are still to be performed.
    Draining,
    /// Waits for the L1D's next flush to begin.
    Ready,
    /// Waits for the L1D's flush to end.
    Flushing,
}

/// An operation that a fence holds back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldBack {
    /// Its place among the instructions in flight.
    pub entry: Place,
    /// Whether a second fence follows it.
    pub acquires: bool,
}

/// Where the flush at the end of a kernel stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KernelEnd {
    None,
    /// Waits for every warp's accesses.
    Draining,
    Flushing,
    Done,
}

#[derive(Clone, Copy, Debug)]
struct Warp {
    /// Instructions and detached accesses that are not performed.
    unperformed: u32,
    /// When its fence began.
    since: Cycle,
    held_back: Option<HeldBack>,
}

/// The fences of all warps of an SM; bit n of every mask is warp slot n.
#[derive(Clone, Debug)]
pub struct Fences {
    warps: Vec<Warp>,
    /// Warps with accesses that are not performed.
    busy: u64,
    draining: u64,
    ready: u64,
    flushing: u64,
    /// Of the warps with a fence: those whose fence is at CTA scope.
    narrow: u64,
    kernel_end: KernelEnd,
}

impl Fences {
    /// For so many warp slots, at most 64.
    pub fn new(warps: usize) -> Fences {
        let warp = Warp { unperformed: 0, since: Cycle::ZERO, held_back: None };
        Fences {
            warps: vec![warp; warps],
            busy: 0,
            draining: 0,
            ready: 0,
            flushing: 0,
            narrow: 0,
            kernel_end: KernelEnd::None,
        }
    }

    /// Something of this warp is to be performed.
    #[inline]
    pub fn open(&mut self, warp: u8) {
        self.warps[usize::from(warp)].unperformed += 1;
        self.busy |= 1 << warp;
    }

    /// Something of this warp is performed.
    #[inline]
    pub fn close(&mut self, warp: u8) {
        let unperformed = &mut self.warps[usize::from(warp)].unperformed;
        *unperformed -= 1;
        if *unperformed == 0 {
            self.busy &= !(1 << warp);
        }
    }

    /// How much of this warp is not performed, an operation that a fence holds back included.
    pub fn unperformed(&self, warp: u8) -> u32 {
        let warp = &self.warps[usize::from(warp)];
        warp.unperformed + u32::from(warp.held_back.is_some())
    }

    /// Begins a fence, which may hold an operation back.
    ///
    /// # Panics
    /// When the warp has a fence already: it must not issue anything then.
    pub fn begin(&mut self, warp: u8, scope: Scope, held_back: Option<HeldBack>, now: Cycle) {
        let bit = 1 << warp;
        assert!(self.waiting() & bit == 0, "warp {warp} issued behind its own fence");
        self.draining |= bit;
        self.narrow = if scope == Scope::Cta { self.narrow | bit } else { self.narrow & !bit };
        let warp = &mut self.warps[usize::from(warp)];
        (warp.since, warp.held_back) = (now, held_back);
    }

    /// Warps that wait for a fence.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.draining | self.ready | self.flushing
    }

    /// Where a warp's fence stands.
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

    /// Moves every fence on as far as it goes; the warps whose fences are done.
    #[inline]
    pub fn step(&mut self, l1d: &mut dyn L1d, now: Cycle, statistics: &mut LsuStatistics) -> u64 {
        let drained = self.draining & !self.busy;
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
        done
    }

    /// Ends a warp's fence after [`Fences::step`] reported it; the operation that it held back. When that
    /// acquires, the warp waits for a second fence from now on.
    pub fn finish(&mut self, warp: u8, now: Cycle, statistics: &mut LsuStatistics) -> Option<Place> {
        let bit = 1 << warp;
        let state = &mut self.warps[usize::from(warp)];
        statistics.fences += 1;
        statistics.fence_cycles += now.since(state.since);
        let held_back = state.held_back.take()?;
        if held_back.acquires {
            state.since = now;
            self.draining |= bit;
        }
        Some(held_back.entry)
    }

    /// Asks for the flush at the end of a kernel, once every access is performed.
    pub fn end_kernel(&mut self) {
        self.kernel_end = KernelEnd::Draining;
    }

    /// Whether there is a reason for a step.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.waiting() != 0 || matches!(self.kernel_end, KernelEnd::Draining | KernelEnd::Flushing)
    }

    /// Whether the flush asked for by [`Fences::end_kernel`] is done; forgets it then.
    pub fn kernel_ended(&mut self) -> bool {
        let done = self.kernel_end == KernelEnd::Done;
        if done {
            self.kernel_end = KernelEnd::None;
        }
        done
    }

    /// Earliest cycle in which a step does something of its own accord or of the L1D's.
    pub fn next_event(&self, l1d: &dyn L1d, now: Cycle) -> Cycle {
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
