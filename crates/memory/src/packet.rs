//! Packets between SMs and memory partitions.

use crate::address::LineAddress;
use crate::atomic::AtomicBatch;
use crate::client::Client;
use crate::level::Level;
use crate::line::ByteMask;
use crate::node::NodeId;
use crate::ownership::{Letter, Message};
use crate::touch::{Origin, Touch, TouchKind};
use crate::tray::Tray;

/// Bytes of a packet's header, with command, address and tag. ASSUMED: 8, as in the network configurations of
/// other simulators.
pub const HEADER_BYTES: u32 = 8;

/// What a packet requests or answers, with the buffer that carries its bytes.
///
/// The kind stands in a byte of its own: in unused values of a field, where the compiler would put it, each look at it
/// would have to decode it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Body {
    /// Nothing: it has been taken out of the packet, which is not under way.
    #[default]
    Taken,
    /// Requests bytes of the line; the tray is empty.
    Read(Tray),
    /// Answers a read; the tray holds the bytes requested.
    ReadReply(Tray),
    /// Writes the bytes in the tray into the line.
    Write(Tray),
    /// Acknowledges a write, whose bytes every SM can now see; returns the tray.
    WriteAck(Tray),
    /// Requests atomic operations on the line.
    Atomic(Box<AtomicBatch>),
    /// Answers an atomic request; the batch holds the old values.
    AtomicReply(Box<AtomicBatch>),
    /// Asks the last-level cache to have bytes of the line; nobody waits for them.
    Prefetch,
    /// Says that a prefetch has been looked at, whatever became of it.
    PrefetchAck,
    /// A message about words that have owners. The tray carries the words: in messages with data, in reads (to be
    /// filled), in what is forwarded for data and in recalls; in [`Message::WrittenBack`] on its way back.
    Owned(Letter, Option<Tray>),
}

/// A request or reply that concerns one line.
///
/// It is one pointer, because it goes through a dozen queues. The reply to a request is the same packet, turned around, so
/// it comes back to its sender, who keeps it for the next request ([`Packets`](crate::Packets)).
pub type Packet = Box<Contents>;

/// What a [`Packet`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// Line that the packet concerns.
    pub line: LineAddress,
    /// Bytes of the line that are requested or carried.
    pub bytes: ByteMask,
    /// Node that sent the packet.
    pub source: NodeId,
    /// Node that receives the packet.
    pub destination: NodeId,
    /// Unit of the requesting node to which the packet belongs.
    pub client: Client,
    /// Identifies the request to its sender; the reply carries the same tag.
    pub tag: u32,
    /// The instruction behind the request, for policies. It takes no bytes on the wire. ASSUMED: the header has room for what a policy
    /// uses of it.
    pub origin: Origin,
    /// Where the bytes of the answer come from, for counters. It takes no bytes on the wire.
    pub level: Level,
    /// The request or answer itself.
    pub body: Body,
}

/// What packets are for, as evaluations divide the traffic of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Reads, what is sent on for them, and all data that answer a request.
    Read,
    /// Writes, atomics and registrations, what is sent on for them, and acknowledgements.
    Write,
    /// What owners write back or return, the recalls, and acknowledgements.
    WriteBack,
}

impl Contents {
    /// What the packet is for.
    pub fn purpose(&self) -> Purpose {
        match &self.body {
            Body::Read(_) | Body::ReadReply(_) | Body::Prefetch | Body::PrefetchAck => Purpose::Read,
            Body::Write(_) | Body::WriteAck(_) | Body::Atomic(_) | Body::AtomicReply(_) => Purpose::Write,
            Body::Owned(letter, _) => match letter.message {
                Message::Read | Message::ForwardRead | Message::Data => Purpose::Read,
                Message::WriteBack | Message::WrittenBack | Message::Recall | Message::Return => {
                    Purpose::WriteBack
                }
                _ => Purpose::Write,
            },
            Body::Taken => unreachable!("an empty packet is for nothing"),
        }
    }

    /// The request as a policy of the last-level cache sees it. A registration is a store.
    #[inline]
    pub fn touch(&self) -> Touch {
        let kind = match self.body {
            Body::Read(_) => TouchKind::Load,
            Body::Atomic(_) => TouchKind::Atomic,
            Body::Prefetch => TouchKind::Prefetch,
            Body::Owned(letter, _) if letter.message == Message::Read => TouchKind::Load,
            _ => TouchKind::Store,
        };
        Touch { line: self.line, origin: self.origin, node: self.source, kind }
    }

    /// Size on the wire in bytes: the header, plus the payload if there is one.
    #[inline]
    pub fn wire_bytes(&self) -> u32 {
        HEADER_BYTES
            + match &self.body {
                Body::Read(_) | Body::WriteAck(_) | Body::Prefetch | Body::PrefetchAck => 0,
                Body::ReadReply(_) | Body::Write(_) => self.bytes.count(),
                Body::Atomic(_) | Body::AtomicReply(_) | Body::Owned(..) | Body::Taken => {
                    self.rarer_payload()
                }
            }
    }

    /// Size of the payload of an atomic, its reply or a message about words that have owners.
    #[inline(never)]
    fn rarer_payload(&self) -> u32 {
        match &self.body {
            // Operands, one lane after the other; a byte each for its place.
            Body::Atomic(batch) => {
                let operands = if batch.op == crate::atomic::AtomicOp::Cas { 2 } else { 1 };
                u32::from(batch.count) * (1 + operands * batch.ty.bytes() as u32)
            }
            Body::AtomicReply(batch) if batch.returns => u32::from(batch.count) * batch.ty.bytes() as u32,
            // ASSUMED: the header has room for a mask of words and the requester's name.
            Body::Owned(letter, _) if letter.message.carries_data() => self.bytes.count(),
            _ => 0,
        }
    }

    /// Turns a request into its reply, which returns the same tray to the source.
    pub fn into_reply(mut self: Box<Self>) -> Packet {
        self.body = match self.body {
            Body::Read(tray) => Body::ReadReply(tray),
            Body::Write(tray) => Body::WriteAck(tray),
            Body::Atomic(batch) => Body::AtomicReply(batch),
            Body::Prefetch => Body::PrefetchAck,
            reply => reply,
        };
        (self.source, self.destination) = (self.destination, self.source);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_as_large_as_a_line_of_the_host() {
        assert_eq!(size_of::<Contents>(), 64, "many packets are under way");
        assert_eq!(size_of::<Body>(), 16);
    }
}
