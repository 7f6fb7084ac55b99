//! A channel of any bandwidth, which no channel is: an ideal part.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::statistics::Group;

use super::atoms::Atoms;
use super::controller::{Control, Shape, Step};
use super::queue::Arrival;
use super::statistics::DramStatistics;

/// Ideal, no scheduler of a real channel: no request waits for another. Each opens a row of a bank of its own and moves all its bursts at
/// once, so it takes RCD, CL or WL, and the cycles of a burst. Nothing is refreshed, and `page` decides nothing.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unlimited {}

/// The controller: it has nothing to decide.
#[derive(Debug)]
pub(super) struct Controller {
    /// What has arrived, and when it is served.
    waiting: VecDeque<(u64, Arrival)>,
    atoms: Atoms,
    burst_cycles: u64,
}

impl Controller {
    pub fn new(shape: &Shape) -> Controller {
        let waiting = VecDeque::with_capacity(shape.site.queue_entries);
        Controller { waiting, atoms: shape.atoms, burst_cycles: shape.burst_cycles }
    }
}

impl Control for Controller {
    fn insert(&mut self, arrival: Arrival, arrived: u64) -> u64 {
        self.waiting.push_back((arrived, arrival));
        arrived
    }

    fn step(&mut self, at: u64, statistics: &mut DramStatistics) -> Step {
        let next = |waiting: &VecDeque<(u64, Arrival)>| waiting.front().map_or(u64::MAX, |(due, _)| *due);
        if next(&self.waiting) > at {
            return Step { finished: None, next: next(&self.waiting) };
        }
        let finished = self.waiting.pop_front().map(|(_, arrival)| {
            let bursts = u64::from(self.atoms.holding(arrival.bytes));
            let bytes = bursts * self.atoms.bytes();
            statistics.bursts += bursts;
            statistics.data_bus_busy_cycles += bursts * self.burst_cycles;
            statistics.activates += 1;
            statistics.row_misses += 1;
            *if arrival.write { &mut statistics.written_bytes } else { &mut statistics.read_bytes } += bytes;
            arrival.ticket
        });
        Step { finished, next: next(&self.waiting) }
    }

    fn catch_up(&mut self, _until: u64, _statistics: &mut DramStatistics) {}

    fn page_statistics(&self) -> Option<Group> {
        None
    }

    #[cfg(test)]
    fn trace(&self) -> &[super::controller::Issued] {
        &[]
    }
}
