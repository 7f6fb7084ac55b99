//! The door of the L1 data cache: coalesced accesses in, packets out.

use std::sync::Arc;

use strata_engine::Cycle;
use strata_engine::statistics::Group;

use super::design::{Design, Named, downcast};
use crate::address::LineAddress;
use crate::atomic::AtomicBatch;
use crate::line::{ByteMask, Tray};
use crate::packet::{NodeId, Packet};
use crate::parameters::ParameterError;
use crate::slice_map::SliceMap;

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
///
/// ```
/// # use strata_designs::baseline::SramL1dConfig;
/// # use strata_engine::Cycle;
/// # use strata_memory::doors::{Access, Action, L1dDesign, L1dSite, Policy};
/// # use strata_memory::{ByteMask, Line, LineAddress, NodeId, SliceMap};
/// let slices = SliceMap::new(1, 256, NodeId(1)).expect("one slice");
/// let mut l1d = SramL1dConfig::example().build(L1dSite { node: NodeId(0), slices, seed: 1 })?;
/// let load = Access {
///     line: LineAddress(7),
///     bytes: ByteMask::range(0, 4),
///     action: Action::Load(Box::new(Line::ZERO)),
///     policy: Policy::Cached,
///     token: 3,
///     pc: 0,
///     warp: 0,
/// };
/// l1d.offer(load, Cycle(0)).expect("an idle cache takes it");
/// let mut now = Cycle(0);
/// let done = loop {
///     now = l1d.next_event(now.next());
///     l1d.tick(now);
///     if let Some(request) = l1d.outgoing(now) {
///         // The last-level cache answers at once, with the request's own tray.
///         l1d.accept(request.into_reply(), now);
///     }
///     if let Some(done) = l1d.completed(now) {
///         break done;
///     }
/// };
/// assert_eq!(done.token, 3);
/// # Ok::<(), strata_memory::ParameterError>(())
/// ```
pub trait L1d: Send {
    /// Offers an access. Refused, it comes back with the reason; nothing has changed then but a counter.
    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)>;

    /// Changes whenever an access refused for `cause` might now succeed; until then retrying is pointless. Not
    /// asked for refusals that hold for one cycle only ([`Refusal::Port`], [`Refusal::Bank`]). The default, the
    /// cycle itself, makes the load/store unit retry in every cycle.
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

/// Where an L1D stands: what one needs to be built.
#[derive(Clone, Copy, Debug)]
pub struct L1dSite {
    /// Its SM's node of the network: the source of its requests.
    pub node: NodeId,
    /// Which node each line's requests go to.
    pub slices: SliceMap,
    /// Seed of its random streams.
    pub seed: u64,
}

/// The numbers of an L1D, read from a machine file.
pub trait L1dDesign: Design {
    /// Bytes of data that it holds.
    fn capacity_bytes(&self) -> u64;

    /// An empty L1D.
    ///
    /// # Errors
    /// The first number that cannot be built.
    fn build(&self, site: L1dSite) -> Result<Box<dyn L1d>, ParameterError>;
}

downcast! { L1dDesign }

/// The L1D that a machine names.
pub type L1dChoice = Named<Arc<dyn L1dDesign>>;
