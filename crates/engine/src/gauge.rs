//! How much of something is in use, over time.

mod ahead;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use self::ahead::Ahead;
use crate::time::Cycle;

/// Ranges of how much is in use that are told apart: 0, 1, 2 and 3, 4 to 7, and so on; the last has all that is more.
pub const RANGES: usize = 16;

/// How much was in use during some cycles.
///
/// ```
/// use strata_engine::{Cycle, Gauge};
///
/// let entries = Gauge::new();
/// entries.begin(Cycle(10));
/// entries.set(3, Cycle(12));
/// entries.set(0, Cycle(17));
/// let used = entries.end(Cycle(20));
/// assert_eq!((used.cycles[0], used.cycles[2]), (2 + 3, 5));
/// assert_eq!((used.entry_cycles, used.most), (15, 3));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Cycles by how much was in use: fewer than two to the power of the place, and not fewer than half of that.
    pub cycles: [u64; RANGES],
    /// How much was in use, summed over cycles.
    pub entry_cycles: u64,
    /// The most that was in use in a cycle.
    pub most: u64,
}

impl Used {
    /// Adds another's cycles.
    pub fn merge(&mut self, other: &Used) {
        self.cycles.iter_mut().zip(other.cycles).for_each(|(mine, theirs)| *mine += theirs);
        self.entry_cycles += other.entry_cycles;
        self.most = self.most.max(other.most);
    }

    fn add(&mut self, entries: u64, cycles: u64) {
        if cycles > 0 {
            let range = (u64::BITS - entries.leading_zeros()) as usize;
            self.cycles[range.min(RANGES - 1)] += cycles;
            self.entry_cycles += entries * cycles;
            self.most = self.most.max(entries);
        }
    }
}

/// Counts how much of something is in use. Only one island writes; others read between runs.
#[derive(Debug, Default)]
pub struct Gauge {
    state: Mutex<State>,
    /// What is in use as far as the writer has said, who often says the same again.
    set: AtomicU64,
}

/// Changes that may lie ahead before those in the past are made: together they cost less.
const MOST_AHEAD: usize = 256;

#[derive(Debug, Default)]
struct State {
    entries: u64,
    since: Cycle,
    used: Used,
    /// What is more from a cycle on, and what is less, as far as it lies ahead.
    more: Ahead,
    fewer: Ahead,
}

impl State {
    fn pass(&mut self, now: Cycle) {
        self.used.add(self.entries, now.0.saturating_sub(self.since.0));
        self.since = self.since.max(now);
    }

    /// Makes the changes up to a cycle that lay ahead.
    #[inline(never)]
    fn catch_up(&mut self, now: Cycle) {
        loop {
            let at = self.more.next().min(self.fewer.next());
            if at > now || at == Cycle::NEVER {
                break;
            }
            self.pass(at);
            self.entries = (self.entries + self.more.take(at)).saturating_sub(self.fewer.take(at));
        }
        self.more.forget_taken();
        self.fewer.forget_taken();
    }

    /// Makes the changes before which no other can come any more, once there are many.
    #[inline]
    fn settle(&mut self) {
        if self.more.len() + self.fewer.len() >= MOST_AHEAD {
            self.catch_up(self.more.last().min(self.fewer.last()));
        }
    }
}

impl Gauge {
    /// A gauge of something of which nothing is in use.
    pub fn new() -> Arc<Gauge> {
        Arc::new(Gauge::default())
    }

    /// From a cycle on so much is in use.
    #[inline]
    pub fn set(&self, entries: u64, now: Cycle) {
        if self.set.load(Ordering::Relaxed) != entries {
            self.change(now, |_| entries);
        }
    }

    /// From a cycle on one more is in use.
    pub fn add_one(&self, now: Cycle) {
        self.change(now, |entries| entries + 1);
    }

    /// From a cycle on one less is in use.
    pub fn take_one(&self, now: Cycle) {
        self.change(now, |entries| entries.saturating_sub(1));
    }

    /// From a cycle on, which may lie ahead, so many more are in use. The next call's cycle is no earlier. A gauge that is changed in this way and by
    /// [`Gauge::take_from`] is changed in no other.
    pub fn add_from(&self, entries: u64, at: Cycle) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.more.push(entries, at);
        state.settle();
    }

    /// From a cycle on, which may lie ahead, so many fewer are in use. The next call's cycle is no earlier.
    pub fn take_from(&self, entries: u64, at: Cycle) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.fewer.push(entries, at);
        state.settle();
    }

    /// Counts from a cycle on, what is in use by then included.
    pub fn begin(&self, now: Cycle) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.catch_up(now);
        (state.since, state.used) = (now, Used::default());
    }

    /// What was counted before a cycle.
    pub fn end(&self, now: Cycle) -> Used {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.catch_up(now);
        state.pass(now);
        state.used
    }

    fn change(&self, now: Cycle, to: impl FnOnce(u64) -> u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = to(state.entries);
        if entries != state.entries {
            state.pass(now);
            state.entries = entries;
            self.set.store(entries, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_those_between_changes() {
        let gauge = Gauge::new();
        gauge.set(1 << 40, Cycle(3));
        gauge.begin(Cycle(5));
        gauge.set(7, Cycle(5));
        gauge.add_one(Cycle(6));
        gauge.set(8, Cycle(8));
        gauge.take_one(Cycle(9));
        gauge.set(1 << 20, Cycle(11));
        let used = gauge.end(Cycle(12));
        let mut cycles = [0; RANGES];
        (cycles[3], cycles[4], cycles[RANGES - 1]) = (1 + 2, 3, 1);
        assert_eq!(used.cycles, cycles);
        assert_eq!(used.entry_cycles, 7 + 3 * 8 + 2 * 7 + (1 << 20));
        assert_eq!(used.most, 1 << 20, "what was gone before it began does not count");
    }

    #[test]
    fn changes_may_be_known_before_their_cycle() {
        let gauge = Gauge::new();
        gauge.begin(Cycle(0));
        gauge.add_from(3, Cycle(2));
        gauge.add_from(4, Cycle(8));
        // It was sent before the other, and comes back before that is there.
        gauge.take_from(3, Cycle(6));
        assert_eq!(gauge.end(Cycle(7)).entry_cycles, 3 * 4, "nothing that lies ahead counts");
        gauge.take_from(4, Cycle(11));
        let used = gauge.end(Cycle(10));
        assert_eq!((used.entry_cycles, used.most), (3 * 4 + 4 * 2, 4));
        gauge.begin(Cycle(20));
        assert_eq!(gauge.end(Cycle(21)).cycles[0], 1, "it went in between");
    }

    #[test]
    fn what_is_in_use_stays_when_counting_begins_again() {
        let gauge = Gauge::new();
        gauge.add_one(Cycle(1));
        assert_eq!(gauge.end(Cycle(4)).entry_cycles, 3);
        gauge.begin(Cycle(10));
        let used = gauge.end(Cycle(12));
        assert_eq!((used.cycles[1], used.cycles[0]), (2, 0));
    }
}
