//! Records the requests of slices of the last-level cache, and those that these send to DRAM.

use std::sync::Arc;

use strata_engine::{Cycle, Log};
use strata_memory::{Client, Level, LineAddress, NodeId, Packet, TouchKind};

use super::l1d::{answered_words, asked_words};
use crate::observed::{DramName, LlcObserver};

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

impl LlcObserver for Arc<SliceLog> {
    type Seen = (PacketName, TouchKind, Option<u32>);

    fn see(&self, request: &Packet) -> Self::Seen {
        let name =
            PacketName { node: request.source, client: request.client, tag: request.tag, line: request.line };
        (name, request.touch().kind, asked_words(request))
    }

    fn arrived(&self, (name, kind, words): Self::Seen, now: Cycle) {
        self.record(now, SliceEvent::Arrived { name, kind, words });
    }

    fn left(&self, packet: &Packet, now: Cycle) {
        let name = PacketName {
            node: packet.destination,
            client: packet.client,
            tag: packet.tag,
            line: packet.line,
        };
        self.record(now, SliceEvent::Left { name, level: packet.level, words: answered_words(packet) });
    }

    fn is_watching(&self, now: Cycle) -> bool {
        self.is_open(now)
    }

    fn asked(&self, name: DramName, now: Cycle) {
        self.record(now, SliceEvent::Asked(name));
    }

    fn done(&self, name: DramName, now: Cycle) {
        self.record(now, SliceEvent::Done(name));
    }
}
