//! A slice of the last-level cache that somebody observes, with its requests to DRAM: it stands in front of any other, and passes on all
//! that it is asked.

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::doors::{DramPort, DramRequest, Llc};
use strata_memory::{ByteMask, Line, LineAddress, Packet};

/// Names a request to DRAM: its line, its tag, and whether it writes.
pub type DramName = (LineAddress, u32, bool);

/// Who observes a slice.
pub trait LlcObserver: Send + 'static {
    /// What it keeps of a request, which is gone once the slice has taken it.
    type Seen;

    /// A request is offered.
    fn see(&self, request: &Packet) -> Self::Seen;

    /// The slice has taken it.
    fn arrived(&self, _seen: Self::Seen, _now: Cycle) {}

    /// A packet leaves.
    fn left(&self, _packet: &Packet, _now: Cycle) {}

    /// Whether requests to DRAM are of interest in a cycle.
    fn is_watching(&self, _now: Cycle) -> bool {
        true
    }

    /// DRAM, or a cache in front of it, has taken a request of the slice.
    fn asked(&self, name: DramName, now: Cycle);

    /// The slice takes it back, done.
    fn done(&self, name: DramName, now: Cycle);

    /// Something has happened that may change how much of the slice is in use.
    fn changed(&self, _llc: &dyn Llc, _now: Cycle) {}
}

/// Another slice, and who observes it.
pub struct ObservedLlc<O> {
    inner: Box<dyn Llc>,
    observer: O,
}

impl<O: LlcObserver> ObservedLlc<O> {
    /// Stands in front of a slice.
    pub fn new(inner: Box<dyn Llc>, observer: O) -> ObservedLlc<O> {
        ObservedLlc { inner, observer }
    }
}

/// A slice's port, whose requests are observed.
struct ObservedPort<'a, O> {
    inner: &'a mut dyn DramPort,
    observer: &'a O,
}

impl<O: LlcObserver> DramPort for ObservedPort<'_, O> {
    fn offer(&mut self, request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        let name = (request.line, request.tag, request.write);
        self.inner.offer(request, now)?;
        self.observer.asked(name, now);
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
        self.observer.done((done.line, done.tag, done.write), now);
        Some(done)
    }

    fn peek(&self, line: LineAddress, into: &mut Line) {
        self.inner.peek(line, into);
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.inner.poke(line, bytes, data);
    }
}

impl<O: LlcObserver> Llc for ObservedLlc<O> {
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet> {
        let seen = self.observer.see(&request);
        self.inner.offer(request, now)?;
        self.observer.arrived(seen, now);
        self.observer.changed(&*self.inner, now);
        Ok(())
    }

    fn has_room(&self) -> bool {
        self.inner.has_room()
    }

    fn count_refusals(&mut self, cycles: u64) {
        self.inner.count_refusals(cycles);
    }

    fn accept(&mut self, packet: Packet, now: Cycle) {
        self.inner.accept(packet, now);
        self.observer.changed(&*self.inner, now);
    }

    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        if self.observer.is_watching(now) {
            self.inner.tick(&mut ObservedPort { inner: dram, observer: &self.observer }, now);
        } else {
            self.inner.tick(dram, now);
        }
        self.observer.changed(&*self.inner, now);
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let packet = self.inner.outgoing(now)?;
        self.observer.left(&packet, now);
        Some(packet)
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
