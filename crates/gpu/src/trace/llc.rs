//! A slice of the last-level cache that records its requests, and those that it sends to DRAM: it stands in front of any other.

use std::sync::Arc;

use strata_engine::statistics::Group;
use strata_engine::{Cycle, Log};
use strata_memory::doors::{DramPort, DramRequest, Llc};
use strata_memory::{ByteMask, Client, Level, Line, LineAddress, NodeId, Packet, TouchKind};

use super::l1d::{answered_words, asked_words};

/// Names a packet: the node and its unit that sent it, its tag, and the slice's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PacketName {
    /// The node that sent the request.
    pub node: NodeId,
    /// Its unit.
    pub client: Client,
    /// The request's tag.
    pub tag: u32,
    /// The line, as the slice numbers lines.
    pub line: LineAddress,
}

/// Names a request to DRAM: its line, its tag, and whether it writes.
pub type DramName = (LineAddress, u32, bool);

/// An event of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceEvent {
    /// The slice takes a request; `words`: those that it asks for, where words have owners.
    Arrived { name: PacketName, kind: TouchKind, words: Option<u32> },
    /// A packet leaves for the node that is named; where words have owners, it answers one that asked for these words.
    Left { name: PacketName, level: Level, words: Option<u32> },
    /// DRAM, or a cache in front of it, takes a request of the slice.
    Asked(DramName),
    /// The slice takes it back, done.
    Done(DramName),
}

/// Where a slice records its events, in cycles of its clock.
pub type SliceLog = Log<SliceEvent>;

/// Another slice, and where its requests are recorded.
pub struct TracedLlc {
    inner: Box<dyn Llc>,
    log: Arc<SliceLog>,
}

impl TracedLlc {
    /// Stands in front of a slice.
    pub fn new(inner: Box<dyn Llc>, log: Arc<SliceLog>) -> TracedLlc {
        TracedLlc { inner, log }
    }
}

/// A slice's port, whose requests are recorded.
struct TracedPort<'a> {
    inner: &'a mut dyn DramPort,
    log: &'a SliceLog,
}

impl DramPort for TracedPort<'_> {
    fn offer(&mut self, request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        let name = (request.line, request.tag, request.write);
        self.inner.offer(request, now)?;
        self.log.record(now, SliceEvent::Asked(name));
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
        self.log.record(now, SliceEvent::Done((done.line, done.tag, done.write)));
        Some(done)
    }

    fn peek(&self, line: LineAddress, into: &mut Line) {
        self.inner.peek(line, into);
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.inner.poke(line, bytes, data);
    }
}

impl Llc for TracedLlc {
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet> {
        let name =
            PacketName { node: request.source, client: request.client, tag: request.tag, line: request.line };
        let (kind, words) = (request.touch().kind, asked_words(&request));
        self.inner.offer(request, now)?;
        self.log.record(now, SliceEvent::Arrived { name, kind, words });
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
    }

    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        if self.log.is_open(now) {
            self.inner.tick(&mut TracedPort { inner: dram, log: &self.log }, now);
        } else {
            self.inner.tick(dram, now);
        }
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let packet = self.inner.outgoing(now)?;
        let name = PacketName {
            node: packet.destination,
            client: packet.client,
            tag: packet.tag,
            line: packet.line,
        };
        self.log.record(now, SliceEvent::Left { name, level: packet.level, words: answered_words(&packet) });
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
