//! The backward direction of a link: credits that the receiver returns and the sender takes back.
//!
//! They are counts, so they lie in a ring that both ends share: the receiver writes entries during a window
//! and publishes their number at its end, and the sender reads as far as the previous window published.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::crossing::Crossing;
use super::window::{End, Window};
use crate::gauge::Gauge;
use crate::time::Cycle;

/// The ring that the two ends share.
#[derive(Debug)]
pub(super) struct Returns {
    /// A power of two, and at least as many as the link has units: an entry holds one or more.
    entries: Box<[Entry]>,
    /// How many entries were written, ever, by the end of the last window of each parity.
    published: [AtomicU64; 2],
    crossing: Option<Crossing>,
    pub(super) reader: OnceLock<End>,
}

/// Some units, and when the sender can use them.
#[derive(Debug, Default)]
struct Entry {
    at: AtomicU64,
    units: AtomicU32,
}

impl Returns {
    pub fn new(units: u32, crossing: Option<Crossing>) -> Arc<Returns> {
        let entries = (0..(units as usize).next_power_of_two()).map(|_| Entry::default());
        Arc::new(Returns {
            entries: entries.collect(),
            published: [AtomicU64::new(0), AtomicU64::new(0)],
            crossing,
            reader: OnceLock::new(),
        })
    }

    /// Entry `number`, counted from the first ever written.
    #[inline]
    fn entry(&self, number: u64) -> &Entry {
        &self.entries[number as usize & (self.entries.len() - 1)]
    }

    #[inline]
    fn at(&self, number: u64) -> Cycle {
        Cycle(self.entry(number).at.load(Ordering::Relaxed))
    }
}

/// The receiver's end: writes.
#[derive(Debug)]
pub(super) struct Giver {
    pub returns: Arc<Returns>,
    stamped_after: u64,
    /// Entries written, and those of them that the sender may know of.
    written: u64,
    published: u64,
    /// The cycle of the last entry, while the sender does not know of it.
    last: Cycle,
}

impl Giver {
    pub fn new(returns: Arc<Returns>, stamped_after: u64) -> Giver {
        Giver { returns, stamped_after, written: 0, published: 0, last: Cycle::NEVER }
    }

    /// Returns `units` in the receiver's cycle `now`.
    #[inline]
    pub fn give(&mut self, units: u32, now: Cycle) {
        let at = now + self.stamped_after;
        if self.last == at {
            let together = &self.returns.entry(self.written - 1).units;
            together.store(together.load(Ordering::Relaxed) + units, Ordering::Relaxed);
            return;
        }
        let entry = self.returns.entry(self.written);
        entry.at.store(at.0, Ordering::Relaxed);
        entry.units.store(units, Ordering::Relaxed);
        self.written += 1;
        self.last = at;
    }

    /// Publishes what was returned in this window. Returns the reference cycle at which the first of it can be used.
    #[inline(always)]
    pub fn publish(&mut self, window: Window) -> Cycle {
        if self.written == self.published { Cycle::NEVER } else { self.publish_some(window) }
    }

    #[inline(never)]
    fn publish_some(&mut self, window: Window) -> Cycle {
        if self.returns.crossing.is_none() {
            self.publish_arrivals(window)
        } else {
            self.publish_across(window)
        }
    }

    #[inline(always)]
    fn publish_arrivals(&mut self, window: Window) -> Cycle {
        let first = self.returns.at(self.published);
        self.published = self.written;
        self.last = Cycle::NEVER;
        self.returns.published[window.writes()].store(self.written, Ordering::Release);
        if let Some(reader) = self.returns.reader.get() {
            reader.ring(window);
        }
        first
    }

    /// Publishes what was returned on a link between clocks, with the receiver's cycles.
    #[inline(never)]
    fn publish_across(&mut self, window: Window) -> Cycle {
        let crossing = self.returns.crossing.expect("the link's clocks differ");
        for number in self.published..self.written {
            let at = crossing.arrival(self.returns.at(number));
            self.returns.entry(number).at.store(at.0, Ordering::Relaxed);
        }
        crossing.reference(self.publish_arrivals(window))
    }
}

/// The sender's end: reads.
#[derive(Debug)]
pub(super) struct Taker {
    pub returns: Arc<Returns>,
    /// Entries read, and those that are there to be read.
    read: u64,
    known: u64,
    /// The cycle of the next entry to be read.
    next: Cycle,
    /// What units in use are counted with, where that is asked for.
    pub gauge: Option<Arc<Gauge>>,
}

impl Taker {
    pub fn new(returns: Arc<Returns>) -> Taker {
        Taker { returns, read: 0, known: 0, next: Cycle::NEVER, gauge: None }
    }

    /// Learns of what was returned in the previous window.
    ///
    /// # Panics
    /// If far more was returned than was ever sent.
    #[inline]
    pub fn learn(&mut self, window: Window) {
        let published = self.returns.published[window.reads()].load(Ordering::Acquire);
        // What the side of this parity holds may be older than what the other one held.
        if published > self.known {
            let unread = published - self.read;
            assert!(unread <= self.returns.entries.len() as u64, "a receiver returns what it has received");
            if self.gauge.is_some() {
                self.count_back(published);
            }
            self.known = published;
            self.next = self.returns.at(self.read);
        }
    }

    /// Counts units that the sender uses from a cycle on.
    #[cold]
    #[inline(never)]
    pub fn count_sent(&self, units: u32, now: Cycle) {
        if let Some(gauge) = &self.gauge {
            gauge.add_from(units.into(), now);
        }
    }

    /// Counts what has been returned since the last window, up to an entry.
    #[cold]
    #[inline(never)]
    fn count_back(&self, published: u64) {
        let Some(gauge) = &self.gauge else { return };
        for number in self.known..published {
            let units = self.returns.entry(number).units.load(Ordering::Relaxed);
            gauge.take_from(units.into(), self.returns.at(number));
        }
    }

    /// When the next units can be used.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.next
    }

    /// Takes all units that can be used at `now`.
    #[inline]
    pub fn take(&mut self, now: Cycle) -> u32 {
        if self.next > now {
            return 0;
        }
        let (mut units, mut read, mut next) = (0, self.read, Cycle::NEVER);
        while read < self.known {
            let entry = self.returns.entry(read);
            let at = Cycle(entry.at.load(Ordering::Relaxed));
            if at > now {
                next = at;
                break;
            }
            units += entry.units.load(Ordering::Relaxed);
            read += 1;
        }
        (self.read, self.next) = (read, next);
        units
    }
}
