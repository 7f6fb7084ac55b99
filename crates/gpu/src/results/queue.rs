//! What is counted of queues and MSHRs.

use strata_engine::Used;
use strata_engine::statistics::{Definition, Group, Mark, Statistics, array_group};

strata_engine::statistics! {
    /// How full the queues of one kind are.
    pub struct QueueStatistics: "queue" {
        /// Cycles of the queues' clock during launches, summed over the queues.
        cycles: "cycles",
        /// Entries in use, summed over these cycles; divide by them for the mean.
        entry_cycles: "entry cycles",
        /// The most entries of one queue that were in use in a cycle.
        most: "entries" [maximum],
    }
    laws {
        "entry_cycles <= cycles * most": |s| s.entry_cycles <= s.cycles * s.most,
    }
}

/// Cycles by how many entries were in use.
const IN_USE: Definition = Definition {
    name: "below",
    unit: "cycles",
    meaning: "Cycles in which fewer entries than two to the power of the place were in use, and not fewer than half of that; the last has all in which more were.",
    mark: Mark::Plain,
};

/// What is counted of the queues of a kind.
pub fn queue_groups(used: &Used) -> Vec<Group> {
    let Used { cycles, entry_cycles, most } = *used;
    let all = QueueStatistics { cycles: cycles.iter().sum(), entry_cycles, most }.report();
    vec![all, array_group("in_use", &[(IN_USE, &cycles)])]
}
