//! A slice of the last-level cache whose MSHRs, and whose requests to DRAM, are counted: it stands in front of any other.

use std::sync::Arc;

use strata_engine::statistics::Group;
use strata_engine::{Cycle, Gauge};
use strata_memory::doors::{DramPort, DramRequest, Llc};
use strata_memory::{ByteMask, Line, LineAddress, Packet};

use super::Gauges;

/// Another slice, and what its MSHRs and its channel's requests are counted with.
pub struct WatchedLlc {
    inner: Box<dyn Llc>,
    mshrs: Option<Arc<Gauge>>,
    dram: Arc<Gauge>,
}

impl WatchedLlc {
    /// Stands in front of a slice. The gauge of DRAM is that of all slices of its channel.
    pub fn new(inner: Box<dyn Llc>, mshrs: &Gauges, dram: Arc<Gauge>) -> WatchedLlc {
        let mshrs = inner.mshrs().is_some().then(|| mshrs.add());
        WatchedLlc { inner, mshrs, dram }
    }

    fn count(&self, now: Cycle) {
        if let (Some(gauge), Some(mshrs)) = (&self.mshrs, self.inner.mshrs()) {
            gauge.set(mshrs as u64, now);
        }
    }
}

/// A slice's port, whose requests are counted.
struct WatchedPort<'a> {
    inner: &'a mut dyn DramPort,
    gauge: &'a Gauge,
}

impl DramPort for WatchedPort<'_> {
    fn offer(&mut self, request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        self.inner.offer(request, now)?;
        self.gauge.add_one(now);
        Ok(())
    }

    fn has_room(&self) -> bool {
        self.inner.has_room()
    }

    fn count_refusals(&mut self, cycles: u64) {
        self.inner.count_refusals(cycles);
    }

    fn completed(&mut self, now: Cycle) -> Option<DramRequest> {
        let done = self.inner.completed(now)?;
        self.gauge.take_one(now);
        Some(done)
    }

    fn peek(&self, line: LineAddress, into: &mut Line) {
        self.inner.peek(line, into);
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.inner.poke(line, bytes, data);
    }
}

impl Llc for WatchedLlc {
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet> {
        let offered = self.inner.offer(request, now);
        self.count(now);
        offered
    }

    fn has_room(&self) -> bool {
        self.inner.has_room()
    }

    fn count_refusals(&mut self, cycles: u64) {
        self.inner.count_refusals(cycles);
    }

    fn accept(&mut self, packet: Packet, now: Cycle) {
        self.inner.accept(packet, now);
        self.count(now);
    }

    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        self.inner.tick(&mut WatchedPort { inner: dram, gauge: &self.dram }, now);
        self.count(now);
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.inner.outgoing(now)
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.inner.outgoing_bytes(now)
    }

    fn next_outgoing(&self) -> Cycle {
        self.inner.next_outgoing()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.inner.next_event(now)
    }

    fn peek(&self, line: LineAddress, below: &mut Line) {
        self.inner.peek(line, below);
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.inner.poke(line, bytes, data);
    }

    fn withheld(&self) -> u64 {
        self.inner.withheld()
    }

    fn mshrs(&self) -> Option<usize> {
        self.inner.mshrs()
    }

    fn further(&self) -> u64 {
        self.inner.further()
    }

    fn is_settled(&self) -> bool {
        self.inner.is_settled()
    }

    fn settle(&mut self, dram: &mut dyn DramPort, end: Cycle) {
        self.inner.settle(dram, end);
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.inner.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        self.inner.statistics()
    }
}
