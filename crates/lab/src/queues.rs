//! How full queues and MSHRs were, how many credits of links were in use, and for how long.

use strata_gpu::queues::LINKS;
use strata_gpu::results::Breakdown;

use crate::ranges::{self, Range};

/// The queues of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue<'a> {
    /// Its name.
    pub name: &'a str,
    /// Cycles of all of them.
    pub cycles: u64,
    /// Entries in use, summed over these cycles.
    pub entry_cycles: u64,
    /// The most that were in use in a cycle.
    pub most: u64,
    /// Cycles by range of entries in use.
    counts: Vec<u64>,
}

/// What is told apart of queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Their entries, and MSHRs.
    Entries,
    /// Credits of the network's links, in flits.
    Credits,
}

/// Kinds of queues that are shown together, and the ranges of entries that were in use in them.
#[derive(Clone, Debug, PartialEq)]
pub struct Queues<'a> {
    /// What entries of them are.
    pub of: Of,
    /// The kinds, the nearest to the program first.
    pub queues: Vec<Queue<'a>>,
}

impl<'a> Queues<'a> {
    /// Of a breakdown by queue; nothing if no launch took a cycle.
    #[must_use]
    pub fn of(breakdown: &'a Breakdown) -> Vec<Queues<'a>> {
        let [cycles, entry_cycles, most] =
            ["queue.cycles", "queue.entry_cycles", "queue.most"].map(|path| breakdown.counter(path));
        let counts = ranges::counts(breakdown, "in_use");
        let queue = |(place, part): (usize, &'a strata_gpu::results::Counted)| Queue {
            name: &part.name,
            cycles: cycles[place].unwrap_or_default(),
            entry_cycles: entry_cycles[place].unwrap_or_default(),
            most: most[place].unwrap_or_default(),
            counts: counts[place].clone(),
        };
        let queues = breakdown.parts.iter().enumerate().map(queue).filter(|queue| queue.cycles > 0);
        let (credits, entries) = queues.partition(|queue| LINKS.contains(&queue.name));
        let all = [Queues { of: Of::Entries, queues: entries }, Queues { of: Of::Credits, queues: credits }];
        all.into_iter().filter(|some| !some.queues.is_empty()).collect()
    }

    /// The ranges from the first to the last of some cycle.
    #[must_use]
    pub fn ranges(&self) -> Vec<Range> {
        let all = self.queues.first().map_or(0, |queue| queue.counts.len());
        ranges::ranges(all, |place| self.queues.iter().any(|queue| queue.counts[place] > 0))
    }
}

impl Queue<'_> {
    /// Cycles in which the entries in use lay in a range.
    #[must_use]
    pub fn within(&self, range: &Range) -> u64 {
        self.counts[range.place]
    }

    /// The same, over all cycles.
    #[must_use]
    pub fn share(&self, range: &Range) -> f64 {
        self.within(range) as f64 / self.cycles as f64
    }

    /// Mean of the entries in use.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.entry_cycles as f64 / self.cycles as f64
    }
}
