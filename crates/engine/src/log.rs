//! Events that an island records while somebody wants to see them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::time::Cycle;

/// The events that an island records during some cycles of its clock, in the order in which they are recorded. Only the island writes,
/// so the order is the same on any number of threads. The log is read between runs.
///
/// ```
/// use strata_engine::{Cycle, Log};
///
/// let log = Log::closed();
/// log.open(Cycle(2), Cycle(4));
/// (0..6).for_each(|cycle| log.record(Cycle(cycle), cycle * cycle));
/// assert_eq!(log.take(), [(Cycle(2), 4), (Cycle(3), 9)]);
/// ```
#[derive(Debug)]
pub struct Log<E> {
    from: AtomicU64,
    until: AtomicU64,
    events: Mutex<Vec<(Cycle, E)>>,
    /// Most events that it holds.
    most: usize,
    /// Whether one had no room.
    full: AtomicBool,
}

impl<E> Log<E> {
    /// A log that takes no events until it is [opened](Log::open).
    pub fn closed() -> Arc<Log<E>> {
        Log::with_room(usize::MAX)
    }

    /// The same, of a log that holds at most so many events. It takes no more of them, and [says so](Log::is_full).
    pub fn with_room(most: usize) -> Arc<Log<E>> {
        Arc::new(Log {
            from: AtomicU64::new(0),
            until: AtomicU64::new(0),
            events: Mutex::new(Vec::new()),
            most,
            full: AtomicBool::new(false),
        })
    }

    /// Whether an event had no room since the log was opened.
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Takes the events of the cycles from `from` on and before `until`.
    pub fn open(&self, from: Cycle, until: Cycle) {
        self.from.store(from.0, Ordering::Relaxed);
        self.until.store(until.0, Ordering::Relaxed);
        self.full.store(false, Ordering::Relaxed);
    }

    /// The first cycle whose events it takes.
    #[inline]
    pub fn from(&self) -> Cycle {
        Cycle(self.from.load(Ordering::Relaxed))
    }

    /// Whether it takes events of this cycle.
    #[inline]
    pub fn is_open(&self, now: Cycle) -> bool {
        self.from() <= now && !self.is_over(now)
    }

    /// Whether it takes no events of this cycle or later ones.
    #[inline]
    pub fn is_over(&self, now: Cycle) -> bool {
        self.until.load(Ordering::Relaxed) <= now.0
    }

    /// Records an event, if the log is open in its cycle.
    #[inline]
    pub fn record(&self, now: Cycle, event: E) {
        if self.is_open(now) {
            let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            if events.len() < self.most {
                events.push((now, event));
            } else {
                self.full.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Takes what was recorded since the last call.
    pub fn take(&self) -> Vec<(Cycle, E)> {
        std::mem::take(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
