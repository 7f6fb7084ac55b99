//! What a run would gain from more threads, computed while it runs on one.
//!
//! The work of each island in each window is measured. How long any number of threads would take for the
//! window follows from that by the rule by which threads share out islands, and from what a window costs them
//! beside its work: opening it, and finding who has something to do. What is not computed: caches of the
//! host, which more threads have more of, and its memory, which they share.

mod overhead;
mod share;

use std::time::Duration;

pub use self::overhead::Overhead;
use self::share::Shares;
use crate::order::Order;

/// Reads a clock that stands still while the calling thread does not run.
pub type Clock = fn() -> Duration;

/// The numbers of threads that a schedule is computed for.
pub const THREADS: [usize; 6] = [1, 2, 4, 8, 16, 64];

/// Readings of the clock from which the cost of one is taken.
const READINGS: usize = 64;

/// Adds up what a run costs, window by window.
#[derive(Debug)]
pub(crate) struct Ledger {
    clock: Clock,
    /// The least time between two readings.
    reading: Duration,
    last: Duration,
    /// Nanoseconds of each island in this window.
    costs: Vec<u64>,
    /// The islands of this window that have something to do where the next begins.
    go_on: Vec<bool>,
    islands: Vec<u64>,
    windows: u64,
    longest: u64,
    shares: [Shares; THREADS.len()],
    overheads: [Overhead; THREADS.len()],
}

impl Ledger {
    pub fn new(order: &Order, clock: Clock, overheads: [Overhead; THREADS.len()]) -> Ledger {
        let readings = (0..READINGS).map(|_| {
            let before = clock();
            clock().saturating_sub(before)
        });
        Ledger {
            clock,
            reading: readings.min().unwrap_or_default(),
            last: Duration::ZERO,
            costs: vec![0; order.len()],
            go_on: vec![false; order.len()],
            islands: vec![0; order.len()],
            windows: 0,
            longest: 0,
            shares: THREADS.map(|threads| Shares::new(threads, order)),
            overheads,
        }
    }

    /// A window begins.
    pub fn begin_window(&mut self) {
        self.costs.fill(0);
        self.last = (self.clock)();
    }

    /// An island was visited: whether it had anything to do in the window, and whether it, or what it sent, goes on where
    /// the next begins.
    pub fn visited(&mut self, island: usize, had_work: bool, goes_on: bool) {
        self.go_on[island] = goes_on;
        if had_work {
            let now = (self.clock)();
            let took = now.saturating_sub(self.last).saturating_sub(self.reading);
            self.costs[island] = (took.as_nanos() as u64).max(1);
            self.last = now;
        }
    }

    /// All islands were.
    pub fn end_window(&mut self, order: &Order) {
        self.windows += 1;
        self.longest += self.costs.iter().max().copied().unwrap_or(0);
        for (sum, cost) in self.islands.iter_mut().zip(&self.costs) {
            *sum += cost;
        }
        for shares in &mut self.shares {
            shares.add(order, &self.costs, &self.go_on);
        }
    }

    pub fn schedule(&self) -> Schedule {
        let islands: Vec<Duration> = self.islands.iter().copied().map(Duration::from_nanos).collect();
        let spans = std::array::from_fn(|at| Span {
            threads: THREADS[at],
            working: self.shares[at].elapsed(),
            overhead: self.overheads[at],
            windows: self.windows,
        });
        Schedule {
            windows: self.windows,
            work: islands.iter().sum(),
            longest: Duration::from_nanos(self.longest),
            islands,
            spans,
        }
    }
}

/// What a run cost, and what it would cost on other numbers of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Windows that were simulated.
    pub windows: u64,
    /// Work of all islands together.
    pub work: Duration,
    /// Work of each island.
    pub islands: Vec<Duration>,
    /// The sum over windows of the island that took longest: about the least that any number of threads takes.
    pub longest: Duration,
    /// Each of [`THREADS`].
    pub spans: [Span; THREADS.len()],
}

/// How long a number of threads would take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The number of threads.
    pub threads: usize,
    /// Until the last of them has done its share of the work.
    pub working: Duration,
    /// What each window costs beside.
    pub overhead: Overhead,
    windows: u64,
}

impl Span {
    /// With what windows cost.
    pub fn seconds(&self) -> f64 {
        self.working.as_secs_f64() + self.windows as f64 * self.overhead.seconds
    }
}

impl Schedule {
    /// How many times faster than one thread; 0 if nothing ran.
    pub fn speed_up(&self, span: &Span) -> f64 {
        if span.seconds() > 0.0 { self.spans[0].seconds() / span.seconds() } else { 0.0 }
    }
}

#[cfg(test)]
mod tests;
