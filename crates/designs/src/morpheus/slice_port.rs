//! The channel as the conventional slice sees it.

use std::collections::VecDeque;

use strata_engine::Cycle;
use strata_memory::doors::{DramPort, DramRequest};

use super::separator::Separator;

/// Passes requests on to the channel. The conventional slice numbers its lines without those of the extended LLC.
pub struct SlicePort<'a> {
    pub dram: &'a mut dyn DramPort,
    pub answers: &'a mut VecDeque<DramRequest>,
    pub separator: &'a Separator,
}

impl DramPort for SlicePort<'_> {
    fn offer(&mut self, request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        let line = request.line;
        let outside = DramRequest { line: self.separator.line(line), ..request };
        self.dram.offer(outside, now).map_err(|request| DramRequest { line, ..request })
    }

    fn has_room(&self) -> bool {
        self.dram.has_room()
    }

    fn count_refusals(&mut self, cycles: u64) {
        self.dram.count_refusals(cycles);
    }

    fn completed(&mut self, _now: Cycle) -> Option<DramRequest> {
        self.answers.pop_front()
    }
}
