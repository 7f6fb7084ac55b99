//! What travels between SMs and memory partitions.

use strata_engine::typed_id;

use crate::address::LineAddress;
use crate::atomic::AtomicBatch;
use crate::line::{ByteMask, Tray};

typed_id! {
    /// A node of the network: SMs first, then LLC slices.
    NodeId, u16
}

/// Bytes of a packet's header: command, address, tag. ASSUMED: 8, as in the peers' network configuration.
pub const HEADER_BYTES: u32 = 8;

/// Which unit of a node sent a request; its reply goes back there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Client {
    L1d,
    Constant,
    Instruction,
}

/// What a packet asks for or answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Send these bytes of the line; the tray is empty.
    Read(Tray),
    /// The bytes asked for.
    ReadReply(Tray),
    /// Put these bytes into the line.
    Write(Tray),
    /// The bytes are where every SM can see them.
    WriteAck(Tray),
    /// Perform these operations on the line.
    Atomic(Box<AtomicBatch>),
    /// They are performed; the old values.
    AtomicReply(Box<AtomicBatch>),
}

/// A request or a reply concerning one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The line.
    pub line: LineAddress,
    /// Bytes wanted or carried.
    pub bytes: ByteMask,
    /// Who sent it.
    pub source: NodeId,
    /// Who gets it.
    pub destination: NodeId,
    /// Which unit of the requester it belongs to.
    pub client: Client,
    /// The requester's own name for it; comes back unchanged.
    pub tag: u32,
    /// What it says.
    pub body: Body,
}

impl Packet {
    /// Size on the wire in bytes: header, and the payload when there is one.
    pub fn wire_bytes(&self) -> u32 {
        HEADER_BYTES
            + match &self.body {
                Body::Read(_) | Body::WriteAck(_) => 0,
                Body::ReadReply(_) | Body::Write(_) => self.bytes.count(),
                // Operands, one lane after the other; a byte each for its place.
                Body::Atomic(batch) => {
                    let operands = if batch.op == crate::atomic::AtomicOp::Cas { 2 } else { 1 };
                    u32::from(batch.count) * (1 + operands * batch.ty.bytes() as u32)
                }
                Body::AtomicReply(batch) if batch.returns => u32::from(batch.count) * batch.ty.bytes() as u32,
                Body::AtomicReply(_) => 0,
            }
    }

    /// Turns a request into its reply: back to the source, with the same tray.
    pub fn into_reply(self) -> Packet {
        let body = match self.body {
            Body::Read(tray) => Body::ReadReply(tray),
            Body::Write(tray) => Body::WriteAck(tray),
            Body::Atomic(batch) => Body::AtomicReply(batch),
            reply => reply,
        };
        Packet { source: self.destination, destination: self.source, body, ..self }
    }
}
