//! The windows of a run: which is the latest that has begun, and what came of those before.
//!
//! A window begins when it is known when: where the one before ends, unless all islands have found that nothing can
//! happen until later. Islands may still be simulating the one before, never any earlier one. So what ends a run,
//! such as a failure, ends it with the next window, whatever the threads do.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use super::{Moved, Position, RunOptions, Stop};
use crate::time::Cycle;

/// Windows that are kept: the latest, the one that may not be finished, and one on either side.
const KEPT: usize = 4;

/// How often the watchdog looks, in windows.
const WATCHED: u64 = 64;

/// The windows of a run, as all threads see them.
pub(super) struct Front {
    islands: usize,
    begin: u64,
    every_cycle: bool,
    pause: Cycle,
    options: RunOptions,
    latest: Latest,
    kept: [Slot; KEPT],
    watch: Mutex<Watch>,
    /// How, where, and the last cycle in which an island was ticked.
    ended: OnceLock<(Stop, Position, Cycle)>,
    is_poisoned: AtomicBool,
}

/// The latest window that has begun. In a line of the host's caches of its own, which waiting threads look at.
#[derive(Default)]
#[repr(align(64))]
struct Latest(AtomicU64);

/// One window, in a line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Slot {
    from: AtomicU64,
    until: AtomicU64,
    /// Islands that have simulated it.
    finished: AtomicUsize,
    /// The earliest cycle after it in which anything happens, as far as known.
    earliest: AtomicU64,
    /// What was done in it.
    progress: AtomicU64,
    /// Last cycle in which an island was ticked.
    last: AtomicU64,
    has_failed: AtomicBool,
}

/// What the watchdog knows.
struct Watch {
    /// The first window that it has not looked at, and the progress before.
    seen: u64,
    progress: u64,
    moved: Moved,
    /// The last cycle in which an island was ticked.
    last: Cycle,
    /// Why the run must end.
    stop: Option<Stop>,
}

/// What a thread found in a window, until it tells the others.
pub(super) struct Tally {
    pub finished: usize,
    pub earliest: Cycle,
    pub progress: u64,
    pub last: Cycle,
    pub has_failed: bool,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally { finished: 0, earliest: Cycle::NEVER, progress: 0, last: Cycle::ZERO, has_failed: false }
    }
}

/// A window that a thread can simulate.
#[derive(Clone, Copy)]
pub(super) struct Open {
    pub number: u64,
    pub from: Cycle,
    pub until: Cycle,
}

impl Front {
    /// A run from `begin` on, whose islands have made `progress` so far and were last ticked in cycle `last`.
    pub fn new(
        islands: usize,
        (begin, progress, last): (Position, u64, Cycle),
        every_cycle: bool,
        pause: Cycle,
        options: RunOptions,
    ) -> Front {
        let front = Front {
            islands,
            begin: begin.window,
            every_cycle,
            pause,
            options,
            latest: Latest::default(),
            kept: Default::default(),
            watch: Mutex::new(Watch { seen: begin.window, progress, moved: begin.moved, last, stop: None }),
            ended: OnceLock::new(),
            is_poisoned: AtomicBool::new(false),
        };
        match front.end_at(begin.cycle, last) {
            Some(stop) => front.end(stop, begin, last),
            None => front.put(begin.window, begin.cycle),
        }
        front
    }

    fn latest(&self) -> u64 {
        self.latest.0.load(Ordering::Acquire)
    }

    fn slot(&self, window: u64) -> &Slot {
        &self.kept[window as usize % KEPT]
    }

    /// Sets a window up, for all threads to see once it is the latest.
    fn put(&self, window: u64, from: Cycle) {
        let until = (from + self.options.window).min(self.pause).min(self.options.limit);
        let slot = self.slot(window);
        slot.from.store(from.0, Ordering::Relaxed);
        slot.until.store(until.0, Ordering::Relaxed);
        slot.finished.store(0, Ordering::Relaxed);
        slot.earliest.store(u64::MAX, Ordering::Relaxed);
        slot.progress.store(0, Ordering::Relaxed);
        slot.last.store(0, Ordering::Relaxed);
        slot.has_failed.store(false, Ordering::Relaxed);
        self.latest.0.store(window, Ordering::Release);
    }

    /// Why a run would end instead of beginning a window there.
    fn end_at(&self, cycle: Cycle, last: Cycle) -> Option<Stop> {
        if cycle == Cycle::NEVER {
            Some(Stop::Quiet { last })
        } else if cycle >= self.pause {
            Some(Stop::Paused)
        } else if cycle >= self.options.limit {
            Some(Stop::CycleLimit)
        } else {
            None
        }
    }

    fn end(&self, stop: Stop, at: Position, last: Cycle) {
        let cycle = match stop {
            Stop::Quiet { last } => last.next(),
            Stop::Paused => self.pause,
            // Where nothing happens, the next window begins later.
            Stop::CycleLimit => self.options.limit,
            _ => at.cycle,
        };
        self.ended.set((stop, Position { cycle, ..at }, last)).expect("a run ends once");
    }

    /// How the run ended, where, and the last cycle in which an island was ticked.
    pub fn into_end(self) -> (Stop, Position, Cycle) {
        self.ended.into_inner().expect("threads go on until the run has ended")
    }

    /// The first window.
    pub fn first(&self) -> Open {
        self.open(self.begin)
    }

    /// A window that has begun. Of one that all islands have simulated, only the number is right.
    fn open(&self, number: u64) -> Open {
        let slot = self.slot(number);
        Open {
            number,
            from: Cycle(slot.from.load(Ordering::Relaxed)),
            until: Cycle(slot.until.load(Ordering::Relaxed)),
        }
    }

    /// Tells all threads what one found in a window.
    pub fn tell(&self, window: u64, tally: &mut Tally) {
        if tally.finished == 0 {
            return;
        }
        let Tally { finished, earliest, progress, last, has_failed } = std::mem::take(tally);
        let slot = self.slot(window);
        slot.earliest.fetch_min(earliest.0, Ordering::Relaxed);
        if progress != 0 {
            slot.progress.fetch_add(progress, Ordering::Relaxed);
        }
        if has_failed {
            slot.has_failed.store(true, Ordering::Relaxed);
        }
        slot.last.fetch_max(last.0, Ordering::Relaxed);
        // Whoever sees that all islands are finished sees what was found in them.
        slot.finished.fetch_add(finished, Ordering::AcqRel);
    }

    /// The window that a thread goes on with when it finds no more to do in window `done`; `None` if it must wait, or the run
    /// has ended.
    pub fn next(&self, done: u64) -> Option<Open> {
        if self.is_over() {
            return None;
        }
        if self.latest() == done
            && let Ok(mut watch) = self.watch.try_lock()
            && self.latest() == done
            && self.ended.get().is_none()
        {
            self.advance(done, &mut watch);
        }
        let latest = self.latest();
        // A thread that was left behind skips what the others have finished.
        (latest > done).then(|| self.open((done + 1).max(latest - 1)))
    }

    fn is_finished(&self, window: u64) -> bool {
        self.slot(window).finished.load(Ordering::Acquire) == self.islands
    }

    /// Begins the window after `window`, the latest, or ends the run, if it is known by now which.
    fn advance(&self, window: u64, watch: &mut Watch) {
        if window > self.begin {
            if !self.is_finished(window - 1) {
                return;
            }
            self.look_at(window - 1, watch);
        }
        let is_finished = self.is_finished(window);
        let slot = self.slot(window);
        let Open { until, .. } = self.open(window);
        let cycle = match Cycle(slot.earliest.load(Ordering::Relaxed)) {
            Cycle::NEVER => Cycle::NEVER,
            _ if self.every_cycle => until,
            earliest => earliest.max(until),
        };
        if self.options.interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)) {
            watch.stop.get_or_insert(Stop::Failed { at: until });
        }
        let goes_on = watch.stop.is_none() && self.end_at(cycle, watch.last).is_none();
        // Only all islands together know that nothing happens before a later cycle.
        if goes_on && (is_finished || cycle == until) {
            return self.put(window + 1, cycle);
        }
        if is_finished {
            self.look_at(window, watch);
            let stopped = watch.stop.clone().map(|stop| (stop, until));
            let ended = || Some((self.end_at(cycle, watch.last)?, cycle));
            let (stop, cycle) = stopped.or_else(ended).expect("the run goes no further");
            self.end(stop, Position { cycle, window: window + 1, moved: watch.moved }, watch.last);
        }
    }

    /// Looks once at a window that all islands have simulated, for what ends the run.
    fn look_at(&self, window: u64, watch: &mut Watch) {
        if watch.seen > window {
            return;
        }
        let slot = self.slot(window);
        let until = Cycle(slot.until.load(Ordering::Relaxed));
        watch.seen = window + 1;
        watch.progress = watch.progress.wrapping_add(slot.progress.load(Ordering::Relaxed));
        watch.last = watch.last.max(Cycle(slot.last.load(Ordering::Relaxed)));
        if slot.has_failed.load(Ordering::Relaxed) {
            watch.stop.get_or_insert(Stop::Failed { at: until });
        }
        if !watch.seen.is_multiple_of(WATCHED) {
            return;
        }
        if watch.progress != watch.moved.progress {
            watch.moved = Moved { progress: watch.progress, cycle: until };
        } else if until.since(watch.moved.cycle) > self.options.patience_cycles {
            watch.stop.get_or_insert(Stop::Stuck { at: until });
        }
    }

    /// Returns a guard that releases the other threads if it is dropped by a panic.
    pub fn poison_on_panic(&self) -> PoisonOnPanic<'_> {
        PoisonOnPanic(self)
    }

    /// Whether there is nothing more to wait for.
    pub fn is_over(&self) -> bool {
        self.ended.get().is_some() || self.is_poisoned.load(Ordering::Relaxed)
    }
}

/// Releases waiting threads when dropped by a panic; see [`Front::poison_on_panic`].
pub(super) struct PoisonOnPanic<'a>(&'a Front);

impl Drop for PoisonOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.is_poisoned.store(true, Ordering::Relaxed);
        }
    }
}
