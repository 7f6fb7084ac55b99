//! An L1D whose MSHRs and requests are counted: it stands in front of any other.

use std::sync::Arc;

use strata_engine::statistics::Group;
use strata_engine::{Cycle, Gauge};
use strata_memory::doors::{Access, Completion, Hint, Hinted, L1d, LineNews, Refusal};
use strata_memory::{ByteMask, Line, LineAddress, Packet};

use super::Gauges;

/// Another L1D, and what its MSHRs and requests are counted with.
pub struct WatchedL1d {
    inner: Box<dyn L1d>,
    mshrs: Option<Arc<Gauge>>,
    requests: Arc<Gauge>,
}

impl WatchedL1d {
    /// Stands in front of an L1D.
    pub fn new(inner: Box<dyn L1d>, mshrs: &Gauges, requests: &Gauges) -> WatchedL1d {
        let mshrs = inner.mshrs().is_some().then(|| mshrs.add());
        WatchedL1d { inner, mshrs, requests: requests.add() }
    }

    fn count(&self, now: Cycle) {
        if let (Some(gauge), Some(mshrs)) = (&self.mshrs, self.inner.mshrs()) {
            gauge.set(mshrs as u64, now);
        }
        self.requests.set(self.inner.outstanding() as u64, now);
    }
}

impl L1d for WatchedL1d {
    fn accesses_per_cycle(&self) -> u32 {
        self.inner.accesses_per_cycle()
    }

    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        let offered = self.inner.offer(access, now);
        self.count(now);
        offered
    }

    fn hint(&mut self, hint: &Hint, now: Cycle) -> Result<Hinted, Refusal> {
        let hinted = self.inner.hint(hint, now);
        self.count(now);
        hinted
    }

    fn changes(&self, cause: Refusal, now: Cycle) -> u64 {
        self.inner.changes(cause, now)
    }

    fn count_refusals(&mut self, cause: Refusal, cycles: u64) -> bool {
        self.inner.count_refusals(cause, cycles)
    }

    fn accept(&mut self, reply: Packet, now: Cycle) {
        self.inner.accept(reply, now);
        self.count(now);
    }

    fn tick(&mut self, now: Cycle) {
        self.inner.tick(now);
        self.count(now);
    }

    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        self.inner.completed(now)
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.inner.outgoing(now)
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.inner.outgoing_bytes(now)
    }

    fn answer(&mut self, now: Cycle) -> Option<Packet> {
        self.inner.answer(now)
    }

    fn answer_bytes(&self, now: Cycle) -> Option<u32> {
        self.inner.answer_bytes(now)
    }

    fn begin_flush(&mut self, invalidate: bool, now: Cycle) {
        self.inner.begin_flush(invalidate, now);
        self.count(now);
    }

    fn is_flushed(&self) -> bool {
        self.inner.is_flushed()
    }

    fn resize(&mut self, bytes: u64) {
        self.inner.resize(bytes);
    }

    fn peek(&self, line: LineAddress, below: &mut Line) {
        self.inner.peek(line, below);
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.inner.poke(line, bytes, data);
    }

    fn tell_news(&mut self) {
        self.inner.tell_news();
    }

    fn news(&mut self) -> Option<LineNews> {
        self.inner.news()
    }

    fn outstanding(&self) -> usize {
        self.inner.outstanding()
    }

    fn mshrs(&self) -> Option<usize> {
        self.inner.mshrs()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.inner.next_event(now)
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.inner.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        self.inner.statistics()
    }
}
