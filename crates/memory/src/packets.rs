//! Packets kept for the next that are sent.

use std::sync::{Mutex, PoisonError};

use crate::packet::{Body, Contents, Packet};

/// The packets that have come back to their sender, for the next that it sends. So a packet is allocated only until as many
/// exist as its sender ever had under way at once.
///
/// ```
/// use strata_memory::packets::Packets;
/// use strata_memory::{Level, Body, ByteMask, Client, Contents, Origin, Line, LineAddress, NodeId};
///
/// let mut packets = Packets::default();
/// let request = packets.write(Contents {
///     line: LineAddress(7),
///     bytes: ByteMask::ALL,
///     source: NodeId(0),
///     destination: NodeId(1),
///     client: Client::L1d,
///     tag: 0,
///     origin: Origin::default(),
///     level: Level::default(),
///     body: Body::Read(Box::new(Line::ZERO)),
/// });
/// let Body::ReadReply(_) = packets.open(request.into_reply()) else { panic!("a read is answered with its bytes") };
/// ```
#[derive(Clone, Debug, Default)]
pub struct Packets(Vec<Packet>);

impl Packets {
    /// A packet with these contents.
    #[inline]
    pub fn write(&mut self, contents: Contents) -> Packet {
        rewrite(self.0.pop(), contents)
    }

    /// Takes the body out of a packet that has come back, and keeps the packet.
    #[inline]
    pub fn open(&mut self, mut packet: Packet) -> Body {
        let body = std::mem::take(&mut packet.body);
        self.0.push(packet);
        body
    }
}

/// Packets that belong to nobody: messages about words that have owners end elsewhere than they began.
///
/// All machines of the process share them, as they do [trays that belong to nobody](crate::tray::take_loose).
static LOOSE: Mutex<Packets> = Mutex::new(Packets(Vec::new()));

/// A packet that belongs to nobody, with these contents.
pub fn write_loose(contents: Contents) -> Packet {
    let packet = LOOSE.lock().unwrap_or_else(PoisonError::into_inner).0.pop();
    rewrite(packet, contents)
}

/// Takes the body out of a packet that belongs to nobody, and keeps the packet.
pub fn open_loose(packet: Packet) -> Body {
    LOOSE.lock().unwrap_or_else(PoisonError::into_inner).open(packet)
}

#[inline]
fn rewrite(packet: Option<Packet>, contents: Contents) -> Packet {
    match packet {
        Some(mut packet) => {
            *packet = contents;
            packet
        }
        None => make(contents),
    }
}

#[cold]
fn make(contents: Contents) -> Packet {
    Box::new(contents)
}
