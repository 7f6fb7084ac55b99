//! An L1D that somebody observes: it stands in front of any other, and passes on all that it is asked.

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::doors::{Access, Completion, Hint, Hinted, L1d, LineNews, Refusal};
use strata_memory::{ByteMask, Line, LineAddress, Packet};

/// Who observes an L1D.
pub trait L1dObserver: Send + 'static {
    /// The answer to a packet comes, which the L1D has not seen yet.
    fn answered(&mut self, _reply: &Packet, _now: Cycle) {}

    /// A packet leaves.
    fn sent(&mut self, _packet: &Packet, _now: Cycle) {}

    /// Something has happened that may change how much of the L1D is in use.
    fn changed(&mut self, l1d: &dyn L1d, now: Cycle);
}

/// Another L1D, and who observes it.
pub struct ObservedL1d<O> {
    inner: Box<dyn L1d>,
    observer: O,
}

impl<O: L1dObserver> ObservedL1d<O> {
    /// Stands in front of an L1D.
    pub fn new(inner: Box<dyn L1d>, observer: O) -> ObservedL1d<O> {
        ObservedL1d { inner, observer }
    }
}

impl<O: L1dObserver> L1d for ObservedL1d<O> {
    fn accesses_per_cycle(&self) -> u32 {
        self.inner.accesses_per_cycle()
    }

    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        let offered = self.inner.offer(access, now);
        self.observer.changed(&*self.inner, now);
        offered
    }

    fn hint(&mut self, hint: &Hint, now: Cycle) -> Result<Hinted, Refusal> {
        let hinted = self.inner.hint(hint, now);
        self.observer.changed(&*self.inner, now);
        hinted
    }

    fn changes(&self, cause: Refusal, now: Cycle) -> u64 {
        self.inner.changes(cause, now)
    }

    fn count_refusals(&mut self, cause: Refusal, cycles: u64) -> bool {
        self.inner.count_refusals(cause, cycles)
    }

    fn accept(&mut self, reply: Packet, now: Cycle) {
        self.observer.answered(&reply, now);
        self.inner.accept(reply, now);
        self.observer.changed(&*self.inner, now);
    }

    fn tick(&mut self, now: Cycle) {
        self.inner.tick(now);
        self.observer.changed(&*self.inner, now);
    }

    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        self.inner.completed(now)
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let packet = self.inner.outgoing(now)?;
        self.observer.sent(&packet, now);
        Some(packet)
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
        self.observer.changed(&*self.inner, now);
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
