//! What each level of the hierarchy has served, and after how many cycles.

use strata_gpu::results::Breakdown;

use crate::ranges::{self, Range};

/// A level.
#[derive(Clone, Debug, PartialEq)]
pub struct Level<'a> {
    /// Its name.
    pub name: &'a str,
    /// Accesses that it served.
    pub accesses: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Cycles from the L1D taking them to their completion.
    pub cycles: u64,
    /// Accesses by range of latencies.
    counts: Vec<u64>,
}

/// The levels that have served something, and the ranges of latencies that they did it in.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies<'a> {
    /// The levels, the nearest first.
    pub levels: Vec<Level<'a>>,
    ranges: usize,
}

impl<'a> Latencies<'a> {
    /// Of a breakdown by level; `None` if no access was served.
    #[must_use]
    pub fn of(breakdown: &'a Breakdown) -> Option<Latencies<'a>> {
        let counter = |path: &str| breakdown.counter(path);
        let [accesses, bytes, cycles] = ["served.accesses", "served.bytes", "served.cycles"].map(counter);
        let counts = ranges::counts(breakdown, "latency");
        let ranges = counts.first().map_or(0, Vec::len);
        let level = |(place, part): (usize, &'a strata_gpu::results::Counted)| Level {
            name: &part.name,
            accesses: accesses[place].unwrap_or_default(),
            bytes: bytes[place].unwrap_or_default(),
            cycles: cycles[place].unwrap_or_default(),
            counts: counts[place].clone(),
        };
        let levels = breakdown.parts.iter().enumerate().map(level);
        let levels: Vec<Level<'a>> = levels.filter(|level| level.accesses > 0).collect();
        (!levels.is_empty()).then_some(Latencies { levels, ranges })
    }

    /// The ranges from the first to the last that some access lies in.
    #[must_use]
    pub fn ranges(&self) -> Vec<Range> {
        ranges::ranges(self.ranges, |place| self.levels.iter().any(|level| level.counts[place] > 0))
    }
}

impl Level<'_> {
    /// Accesses whose latency lies in a range.
    #[must_use]
    pub fn within(&self, range: &Range) -> u64 {
        self.counts[range.place]
    }

    /// Mean latency, in cycles.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.cycles as f64 / self.accesses as f64
    }
}
