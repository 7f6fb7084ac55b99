//! The doors: what stands between the parts of a machine, whatever design is behind.
//!
//! A door takes the time as an argument, answers "full" by handing the request back, says the earliest
//! cycle at which it could change anything, and allocates nothing after start-up. A slot freed in cycle t
//! is usable from t + 1.

use strata_engine::Cycle;
use strata_engine::statistics::Group;

use crate::address::LineAddress;
use crate::atomic::AtomicBatch;
use crate::line::{ByteMask, Line, Tray};
use crate::packet::Packet;

/// How an access treats the L1D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Cached normally.
    Cached,
    /// Past the L1D: dirty bytes of the line go out first, a copy is dropped (`.cg`, `.cv`, volatile,
    /// strong operations).
    Bypass,
}

/// What an access does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Bytes wanted; the tray comes back with them.
    Load(Tray),
    /// Bytes to be written, in the tray.
    Store(Tray),
    /// Operations to be performed where the line lives.
    Atomic(Box<AtomicBatch>),
}

/// One coalesced access: one line, the bytes of it that a warp instruction touches.
#[derive(Clone, Debug)]
pub struct Access {
    /// The line.
    pub line: LineAddress,
    /// Bytes read or written.
    pub bytes: ByteMask,
    /// Load, store or atomic.
    pub action: Action,
    /// How the L1D is used.
    pub policy: Policy,
    /// The load/store unit's name for the access; comes back with the completion.
    pub token: u32,
    /// Program counter of the instruction, for predictors.
    pub pc: u32,
    /// Warp slot of the instruction, for predictors.
    pub warp: u8,
}

/// A finished access. A load is finished when its bytes are in the tray; a store when the L1D has taken
/// responsibility for its bytes (its tray comes back then); an atomic when the reply is here.
#[derive(Clone, Debug)]
pub struct Completion {
    /// The name given with the access.
    pub token: u32,
    /// The tray or the batch, back at its owner.
    pub action: Action,
}

/// Why an L1D could not take an access: counted by cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Refusal {
    /// Its port was used in this cycle already.
    Port,
    /// No MSHR is free.
    Mshr,
    /// The line's MSHR can merge no more.
    Merge,
    /// Every way of the set waits for a fill.
    Ways,
    /// The queue to the network is full.
    Network,
    /// The bank is busy.
    Bank,
    /// A flush is under way.
    Flush,
}

/// An L1 data cache, whatever its organisation.
///
/// Order: accesses to the same line are performed in the order in which they were accepted.
pub trait L1d: Send {
    /// Offers an access. Refused, it comes back with the reason; nothing has changed then but a counter.
    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)>;

    /// A number that is another one after every change by which an access that was refused for this cause could
    /// be taken. While it stays, offering again is in vain. Not asked for refusals that hold for the cycle only
    /// ([`Refusal::Port`], [`Refusal::Bank`]). A design that does not keep count may leave it at the cycle.
    fn changes(&self, cause: Refusal, now: Cycle) -> u64 {
        let _ = cause;
        now.0
    }

    /// Takes a reply from the network. Always accepted: its room was reserved when the request left.
    fn accept(&mut self, reply: Packet, now: Cycle);

    /// One cycle of inner work.
    fn tick(&mut self, now: Cycle);

    /// The next finished access, if its time has come.
    fn completed(&mut self, now: Cycle) -> Option<Completion>;

    /// The next packet for the network. It has left when this returns it; ask only when it can be sent.
    fn outgoing(&mut self, now: Cycle) -> Option<Packet>;

    /// Whether [`L1d::outgoing`] would return a packet, and its size in bytes.
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32>;

    /// Begins to write all dirty bytes back. With `invalidate`, clean copies are dropped too, so that later
    /// loads see what other SMs have written. Accesses are refused until it is done.
    fn begin_flush(&mut self, invalidate: bool, now: Cycle);

    /// Whether no flush is under way and every write that was sent has been acknowledged.
    fn is_flushed(&self) -> bool;

    /// Requests sent whose replies are still to come, of any kind.
    fn outstanding(&self) -> usize;

    /// Earliest cycle from `now` on at which a tick, a completion or an outgoing packet could be due
    /// without a new access or reply.
    fn next_event(&self, now: Cycle) -> Cycle;

    /// A sentence for each thing it waits for.
    fn waits(&self, report: &mut Vec<String>);

    /// What it counted.
    fn statistics(&self) -> Vec<Group>;
}

/// A slice of the last-level cache, in front of its DRAM channel.
///
/// Order: requests from one source to one line are performed in the order in which they were accepted.
pub trait Llc: Send {
    /// Offers a request from the network; handed back when full.
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet>;

    /// One cycle of inner work; `dram` takes and returns lines.
    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle);

    /// The next reply for the network. It has left when this returns it.
    fn outgoing(&mut self, now: Cycle) -> Option<Packet>;

    /// Whether [`Llc::outgoing`] would return a packet, and its size in bytes.
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32>;

    /// Earliest cycle from `now` on at which it could do anything without a new request or DRAM reply.
    fn next_event(&self, now: Cycle) -> Cycle;

    /// Between kernels, without time: the line as a host copy sees it. `below` is what DRAM holds; the
    /// slice lays its newer bytes over it.
    fn peek(&self, line: LineAddress, below: &mut Line);

    /// Between kernels, without time: a host copy wrote these bytes of the line; cached copies follow.
    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line);

    /// A sentence for each thing it waits for.
    fn waits(&self, report: &mut Vec<String>);

    /// What it counted.
    fn statistics(&self) -> Vec<Group>;
}

/// The DRAM channel as an LLC slice sees it.
///
/// Order: requests to one line take effect in the order in which they were offered, so that a line can be
/// written back and fetched again.
pub trait DramPort {
    /// Offers a read or write of bytes of a line; handed back when the queue is full. `tag` comes back.
    fn offer(&mut self, request: DramRequest, now: Cycle) -> Result<(), DramRequest>;

    /// The next finished request of this slice: a read with its bytes, or a write whose tray is free.
    fn completed(&mut self, now: Cycle) -> Option<DramRequest>;
}

/// A request of an LLC slice to its DRAM channel, and its answer.
#[derive(Clone, Debug)]
pub struct DramRequest {
    /// The line.
    pub line: LineAddress,
    /// Bytes to read or write: DRAM moves whole atoms (bursts) that cover them.
    pub bytes: ByteMask,
    /// Write or read.
    pub write: bool,
    /// The slice's name for it.
    pub tag: u32,
    /// The bytes.
    pub tray: Tray,
}
