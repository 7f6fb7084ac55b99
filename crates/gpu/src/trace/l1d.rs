//! An L1D that records its packets: it stands in front of any other.

use std::collections::HashMap;
use std::sync::Arc;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::doors::{Access, Completion, Hint, Hinted, L1d, L1dDesign, L1dSite, LineNews, Refusal};
use strata_memory::ownership::{Message, words_of};
use strata_memory::{Body, ByteMask, Line, LineAddress, Packet};
use strata_sm::{SmEvent, SmLog};

use crate::makers::Maker;

/// The words that a packet asks for, where words have owners; 0 if it wants no data.
pub fn asked_words(packet: &Packet) -> Option<u32> {
    match &packet.body {
        Body::Owned(letter, _) => {
            let is_read = matches!(letter.message, Message::Read | Message::RegisterRead);
            Some(if is_read { words_of(packet.bytes) } else { 0 })
        }
        _ => None,
    }
}

/// The words that a packet brings to who asked for them, where words have owners; 0 if it brings none.
pub fn answered_words(packet: &Packet) -> Option<u32> {
    match &packet.body {
        // Others may come along; the tag says which were asked for.
        Body::Owned(letter, _) => Some(if letter.message == Message::Data { packet.tag } else { 0 }),
        _ => None,
    }
}

/// Another L1D, and where its packets are recorded.
pub struct TracedL1d {
    inner: Box<dyn L1d>,
    log: Arc<SmLog>,
    outstanding: u32,
}

impl TracedL1d {
    /// Stands in front of an L1D.
    pub fn new(inner: Box<dyn L1d>, log: Arc<SmLog>) -> TracedL1d {
        TracedL1d { inner, log, outstanding: 0 }
    }

    fn record_outstanding(&mut self, now: Cycle) {
        let requests = self.inner.outstanding() as u32;
        if requests != self.outstanding {
            self.outstanding = requests;
            self.log.record(now, SmEvent::Outstanding { requests });
        }
    }
}

/// Makes L1Ds that record their packets, of the SMs that have a log.
pub fn recording_l1ds(logs: HashMap<u16, Arc<SmLog>>) -> Maker<'static, dyn L1dDesign, L1dSite, dyn L1d> {
    Box::new(move |design, site| {
        let l1d = design.build(site)?;
        Ok(match logs.get(&site.node.0) {
            Some(log) => Box::new(TracedL1d::new(l1d, log.clone())),
            None => l1d,
        })
    })
}

impl L1d for TracedL1d {
    fn accesses_per_cycle(&self) -> u32 {
        self.inner.accesses_per_cycle()
    }

    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        let offered = self.inner.offer(access, now);
        self.record_outstanding(now);
        offered
    }

    fn hint(&mut self, hint: &Hint, now: Cycle) -> Result<Hinted, Refusal> {
        self.inner.hint(hint, now)
    }

    fn changes(&self, cause: Refusal, now: Cycle) -> u64 {
        self.inner.changes(cause, now)
    }

    fn count_refusals(&mut self, cause: Refusal, cycles: u64) -> bool {
        self.inner.count_refusals(cause, cycles)
    }

    fn accept(&mut self, reply: Packet, now: Cycle) {
        let words = answered_words(&reply);
        self.log
            .record(now, SmEvent::Answered { line: reply.line, tag: reply.tag, level: reply.level, words });
        self.inner.accept(reply, now);
        self.record_outstanding(now);
    }

    fn tick(&mut self, now: Cycle) {
        self.inner.tick(now);
        self.record_outstanding(now);
    }

    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        self.inner.completed(now)
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let packet = self.inner.outgoing(now)?;
        let (kind, words) = (packet.touch().kind, asked_words(&packet));
        self.log.record(now, SmEvent::Sent { line: packet.line, tag: packet.tag, kind, words });
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
