//! Records the packets of L1Ds.

use std::collections::HashMap;
use std::sync::Arc;

use strata_engine::Cycle;
use strata_memory::doors::{L1d, L1dDesign, L1dSite};
use strata_memory::ownership::{Message, words_of};
use strata_memory::{Body, Packet};
use strata_sm::{SmEvent, SmLog};

use crate::makers::Maker;
use crate::observed::{L1dObserver, ObservedL1d};

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

/// Records an L1D's packets.
struct Packets {
    log: Arc<SmLog>,
    outstanding: u32,
}

impl L1dObserver for Packets {
    fn answered(&mut self, reply: &Packet, now: Cycle) {
        let words = answered_words(reply);
        self.log
            .record(now, SmEvent::Answered { line: reply.line, tag: reply.tag, level: reply.level, words });
    }

    fn sent(&mut self, packet: &Packet, now: Cycle) {
        let (kind, words) = (packet.touch().kind, asked_words(packet));
        self.log.record(now, SmEvent::Sent { line: packet.line, tag: packet.tag, kind, words });
    }

    fn changed(&mut self, l1d: &dyn L1d, now: Cycle) {
        let requests = l1d.outstanding() as u32;
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
            Some(log) => Box::new(ObservedL1d::new(l1d, Packets { log: log.clone(), outstanding: 0 })),
            None => l1d,
        })
    })
}
