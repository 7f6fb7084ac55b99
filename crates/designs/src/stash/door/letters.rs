//! The stash's packets in those of the network.

use strata_memory::ownership::{Letter, Message, Owner, bytes_of, words_of};
use strata_memory::packets::{open_loose, write_loose};
use strata_memory::tray::{put_loose, take_loose};
use strata_memory::{
    Body, Client, Contents, Level, LineAddress, NodeId, Origin, Packet as Wire, SliceMap, Tray,
};

use crate::stash::port::{LINE_WORDS, Packet, Receiver};

/// Trays kept for packets to come; a stash that gets more gives them away.
const TRAYS: usize = 64;

/// Reads and writes packets.
#[derive(Debug)]
pub struct Letters {
    node: NodeId,
    slices: SliceMap,
    #[allow(clippy::vec_box, reason = "a packet carries its tray")]
    trays: Vec<Tray>,
}

impl Letters {
    /// For the stash at a node.
    pub fn new(node: NodeId, slices: SliceMap) -> Letters {
        Letters { node, slices, trays: Vec::with_capacity(TRAYS) }
    }

    /// The node of the bank that has the owners of a line's words.
    pub fn home_of(&self, line: LineAddress) -> NodeId {
        self.slices.node_of(line)
    }

    /// A packet for the network.
    pub fn write(&mut self, packet: &Packet) -> Wire {
        let line = LineAddress(packet.line);
        let (destination, client) = match packet.to {
            Receiver::Registry => (self.slices.node_of(line), Client::Scratchpad),
            Receiver::Memory(owner) => (NodeId(owner.node.into()), owner.place.client()),
        };
        let Packet { message, owner, requester, words, along, .. } = *packet;
        let needs_tray = message.carries_data() || matches!(message, Message::Read | Message::RegisterRead);
        let tray = needs_tray.then(|| {
            let mut tray = self.trays.pop().unwrap_or_else(take_loose);
            for (word, value) in packet.data.iter().enumerate() {
                tray.0[4 * word..4 * word + 4].copy_from_slice(&value.to_le_bytes());
            }
            tray
        });
        let tag = match message {
            Message::Data => words,
            Message::Read => along,
            _ => 0,
        };
        let letter = Letter { message, place: owner.place, requester };
        let (source, bytes) = (self.node, bytes_of(words));
        let body = Body::Owned(letter, tray);
        write_loose(Contents {
            line,
            bytes,
            source,
            destination,
            client,
            tag,
            origin: Origin::default(),
            level: Level::default(),
            body,
        })
    }

    /// A packet from the network.
    ///
    /// # Panics
    /// On a packet of another protocol: the registry and the stash do not run the same.
    pub fn read(&mut self, wire: Wire) -> Packet {
        let Contents { line, bytes, tag, .. } = *wire;
        let (Letter { message, place, requester }, tray) = match open_loose(wire) {
            Body::Owned(letter, tray) => (letter, tray),
            body => panic!("a stash gets messages about owned words, not {body:?}"),
        };
        let mut data = [0; LINE_WORDS as usize];
        if let Some(tray) = tray {
            for (word, value) in data.iter_mut().enumerate() {
                let bytes = &tray.0[4 * word..4 * word + 4];
                *value = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            }
            if self.trays.len() < TRAYS { self.trays.push(tray) } else { put_loose(tray) }
        }
        let asked = if message == Message::Data { tag } else { u32::MAX };
        let owner = Owner { node: self.node.0 as u8, place };
        let (words, along) = (words_of(bytes) & asked, words_of(bytes) & !asked);
        Packet { message, to: Receiver::Memory(owner), owner, requester, line: line.0, words, along, data }
    }
}
