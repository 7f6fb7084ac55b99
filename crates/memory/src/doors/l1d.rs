//! The door of the L1 data cache (L1D): takes coalesced accesses, exchanges packets with the network.

use std::any::Any;
use std::sync::Arc;

use strata_engine::Cycle;
use strata_engine::statistics::Group;

use super::design::{Coherence, Design, Named, downcast};
use crate::address::LINE_BYTES;
use crate::address::LineAddress;
use crate::atomic::AtomicBatch;
use crate::line::{ByteMask, Line};
use crate::node::NodeId;
use crate::packet::Packet;
use crate::parameters::ParameterError;
use crate::slice_map::SliceMap;
use crate::touch::{Origin, Touch, TouchKind};
use crate::tray::Tray;

/// How an access treats the L1D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Looked up in the cache, and allocated there on a miss.
    Cached,
    /// Goes past the L1D (`.cg`, `.cv`, volatile and strong operations). The line's dirty bytes are written
    /// back first and its copy is dropped.
    Bypass,
}

/// The kind of an access, with the buffers that it carries.
#[derive(Clone, Debug)]
pub enum Action {
    /// Reads bytes; the completion returns the tray with them.
    Load(Tray),
    /// Writes the bytes in the tray.
    Store(Tray),
    /// Read-modify-write operations, performed by the last-level cache.
    Atomic(Box<AtomicBatch>),
}

/// One coalesced access: the bytes of one line that a warp instruction touches.
#[derive(Clone, Debug)]
pub struct Access {
    /// Line that the access touches.
    pub line: LineAddress,
    /// Bytes of the line that are read or written.
    pub bytes: ByteMask,
    /// Whether it loads, stores or performs atomics, with its buffer.
    pub action: Action,
    /// Whether it may be cached.
    pub policy: Policy,
    /// Identifies the access to the load/store unit; its completion carries the same token.
    pub token: u32,
    /// Program counter of the instruction, for predictors.
    pub pc: u32,
    /// Warp slot of the instruction, for predictors.
    pub warp: u8,
    /// Whether it is the first access of its warp instruction, for predictors; true of each access of a texture fetch and of a lane path.
    pub leads: bool,
}

impl Access {
    /// The instruction behind the access.
    #[inline]
    pub fn origin(&self) -> Origin {
        Origin { pc: self.pc, warp: self.warp }
    }

    /// The access as a policy of the L1D of `node` sees it.
    #[inline]
    pub fn touch(&self, node: NodeId) -> Touch {
        let kind = match self.action {
            Action::Load(_) => TouchKind::Load,
            Action::Store(_) => TouchKind::Store,
            Action::Atomic(_) => TouchKind::Atomic,
        };
        Touch { line: self.line, origin: self.origin(), node, kind }
    }
}

/// A finished access. A load finishes when its bytes are in the tray, a store when the L1D has taken its
/// bytes and returns the tray, an atomic when its reply has arrived.
#[derive(Clone, Debug)]
pub struct Completion {
    /// Token of the access that finished.
    pub token: u32,
    /// The action of the access, returning the tray or the batch to its owner.
    pub action: Action,
}

/// Why an L1D refused an access. Refusals are counted by cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Refusal {
    /// The port has already been used in this cycle, or leads to a pipeline that is full.
    Port,
    /// No MSHR is free.
    Mshr,
    /// The line's MSHR cannot merge another access.
    Merge,
    /// Every way of the set waits for a fill.
    Ways,
    /// The queue to the network is full.
    Network,
    /// The bank is busy.
    Bank,
    /// A flush is in progress.
    Flush,
}

/// What an L1D tells of its lines, for schedulers that look at locality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineNews {
    /// An access of a warp found the line neither here nor on its way, and brings it.
    Missed {
        /// The line.
        line: LineAddress,
        /// The access's warp slot.
        warp: u8,
    },
    /// The line left, so that another has room.
    Evicted {
        /// The line.
        line: LineAddress,
    },
    /// A flush drops all lines.
    Emptied,
}

/// A line that the program wishes for before it asks for it. No value depends on a hint, and nothing waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The line,
    pub line: LineAddress,
    /// and the bytes of it that are wished for; at least one.
    pub bytes: ByteMask,
    /// The cache that should have them.
    pub level: HintLevel,
    /// The instruction behind it.
    pub origin: Origin,
}

/// The cache that a hint is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HintLevel {
    /// The L1D itself.
    L1d,
    /// The last-level cache, to which the L1D sends the hint on.
    Llc,
}

/// What became of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hinted {
    /// The L1D did what the hint asks for: the bytes are here, on their way, or asked for below.
    Taken,
    /// The design has no place for such hints.
    Ignored,
    /// Nothing was free for it: an MSHR, or a way of its set.
    Dropped,
}

/// An L1 data cache of any organisation.
///
/// Order: accesses to the same line are performed in the order in which they were accepted.
///
/// ```
/// # use strata_designs::baseline::SramL1dConfig;
/// # use strata_engine::Cycle;
/// # use strata_memory::doors::{Access, Action, L1dDesign, L1dSite, Policy};
/// # use strata_memory::{ByteMask, Line, LineAddress, NodeId, SliceMap};
/// let slices = SliceMap::new(1, 256, NodeId(1)).expect("one slice");
/// let mut l1d = SramL1dConfig::example().build(L1dSite { node: NodeId(0), slices, seed: 1, held_loads: 0 })?;
/// let load = Access {
///     line: LineAddress(7),
///     bytes: ByteMask::range(0, 4),
///     action: Action::Load(Box::new(Line::ZERO)),
///     policy: Policy::Cached,
///     token: 3,
///     pc: 0,
///     warp: 0,
///     leads: true,
/// };
/// l1d.offer(load, Cycle(0)).expect("an idle cache takes it");
/// let mut now = Cycle(0);
/// let done = loop {
///     now = l1d.next_event(now.next());
///     l1d.tick(now);
///     if let Some(request) = l1d.outgoing(now) {
///         // The last-level cache answers immediately, with the request's own tray.
///         l1d.accept(request.into_reply(), now);
///     }
///     if let Some(done) = l1d.completed(now) {
///         break done;
///     }
/// };
/// assert_eq!(done.token, 3);
/// # Ok::<(), strata_memory::ParameterError>(())
/// ```
pub trait L1d: Any + Send {
    /// Accesses that it may take in a cycle, at least 1. No more are offered.
    fn accesses_per_cycle(&self) -> u32 {
        1
    }

    /// Packets that it may send in a cycle, at least 1. More than one only where it is ideal: no SM's port takes more.
    fn packets_per_cycle(&self) -> u32 {
        1
    }

    /// Offers an access. A refused access is returned with the cause; a refusal changes only counters.
    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)>;

    /// Offers a hint of the program, which counts as one of the accesses of a cycle. It changes no value and has no completion.
    ///
    /// # Errors
    /// Refuses a hint only for what passes by itself: the port, the bank or a flush, or a full queue to the network. It is offered
    /// again when [`L1d::changes`] says so. For lack of anything else a hint is [dropped](Hinted::Dropped): a program that
    /// wishes for more than fits does not wait for it.
    fn hint(&mut self, hint: &Hint, now: Cycle) -> Result<Hinted, Refusal> {
        let _ = (hint, now);
        Ok(Hinted::Ignored)
    }

    /// A number that changes whenever an access or hint refused for `cause` might now succeed; until then retrying is
    /// pointless. The load/store unit does not ask after refusals that last one cycle ([`Refusal::Port`],
    /// [`Refusal::Bank`]). The default returns the current cycle, so the unit retries every cycle.
    fn changes(&self, cause: Refusal, now: Cycle) -> u64 {
        let _ = cause;
        now.0
    }

    /// Counts as many refusals for `cause` as there were cycles in which what was refused was not offered again, for lack of
    /// [changes](L1d::changes). Returns whether it does: the default is of a design that counts offers, or is offered in every cycle
    /// what it refused.
    fn count_refusals(&mut self, cause: Refusal, cycles: u64) -> bool {
        let _ = (cause, cycles);
        false
    }

    /// Takes a reply from the network. It cannot be refused: sending the request reserved room for it. With
    /// [`Coherence::Owners`] also what the registry or other owners say: there is room for all that can come, as much as others
    /// can have under way.
    fn accept(&mut self, reply: Packet, now: Cycle);

    /// Performs the internal work of one cycle. Cycles before [`L1d::next_event`] may be left out, and with them the
    /// questions for completions and packets.
    fn tick(&mut self, now: Cycle);

    /// Takes the next access whose completion is due at `now`.
    fn completed(&mut self, now: Cycle) -> Option<Completion>;

    /// Takes the next packet for the network. Call it only when the network can accept the packet.
    fn outgoing(&mut self, now: Cycle) -> Option<Packet>;

    /// Wire size in bytes of the packet that [`L1d::outgoing`] would return; `None` if it would return none.
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32>;

    /// Takes the next packet for the network of owners: what it says about words that it owns. Only L1Ds with
    /// [`Coherence::Owners`] have any.
    fn answer(&mut self, now: Cycle) -> Option<Packet> {
        let _ = now;
        None
    }

    /// Wire size in bytes of the packet that [`L1d::answer`] would return; `None` if it would return none.
    fn answer_bytes(&self, now: Cycle) -> Option<u32> {
        let _ = now;
        None
    }

    /// Begins a flush, after which all others can see what was written through this L1D. With `invalidate`, later loads
    /// through this L1D see what others had made visible. What that takes is the choice of the machine's [`Coherence`]: write
    /// all dirty bytes back and drop all copies; or have all words registered that were written, and drop those that are
    /// not. Accesses are refused until the flush is done.
    fn begin_flush(&mut self, invalidate: bool, now: Cycle);

    /// Whether no flush is in progress and all others can see every write that was sent.
    fn is_flushed(&self) -> bool;

    /// Gives the L1D another capacity, in bytes: one that [`L1dDesign::check_capacity`] allows. Called only between
    /// launches, when nothing is under way and a flush has written everything back and dropped it. The default is of a
    /// design whose capacity is fixed, which is never asked.
    fn resize(&mut self, bytes: u64) {
        let _ = bytes;
    }

    /// Reads a line for a host copy between kernels; takes no simulated time. `below` holds the bytes of the levels below,
    /// over which the L1D writes the words that it owns, or has not written back.
    fn peek(&self, line: LineAddress, below: &mut Line) {
        let _ = (line, below);
    }

    /// Updates what it holds after a host copy wrote `bytes` of the line between kernels; takes no simulated time. The default is of a
    /// design that holds nothing between kernels.
    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        let _ = (line, bytes, data);
    }

    /// From now on it tells what becomes of its lines ([`L1d::news`]). Called before the first access, and only of a design that
    /// [can](L1dDesign::tells_news). The default is of one that cannot.
    fn tell_news(&mut self) {}

    /// Takes the next piece of news, in the order in which things happened. What it tells, it tells by the end of the cycle of the
    /// access or the fill that caused it.
    fn news(&mut self) -> Option<LineNews> {
        None
    }

    /// Number of requests of any kind that await their replies.
    fn outstanding(&self) -> usize;

    /// MSHRs in use; `None` if the design has none.
    fn mshrs(&self) -> Option<usize> {
        None
    }

    /// Earliest cycle, not before `now`, at which a tick would do work or a completion or packet could become
    /// due, assuming that no access or reply arrives meanwhile.
    fn next_event(&self, now: Cycle) -> Cycle;

    /// Appends to `report` one sentence for each thing that the L1D waits for.
    fn waits(&self, report: &mut Vec<String>);

    /// Its counters, one group for each set of statistics.
    fn statistics(&self) -> Vec<Group>;
}

/// The place of an L1D in the machine.
#[derive(Clone, Copy, Debug)]
pub struct L1dSite {
    /// Network node of its SM or CPU core: the source of its requests.
    pub node: NodeId,
    /// Maps each line to the slice that serves its requests.
    pub slices: SliceMap,
    /// Seed of the L1D's random streams.
    pub seed: u64,
    /// Loads past the cache whose replies may be withheld, and which must keep no other access from going: those of an SM
    /// in cache mode, two for each warp. The L1D has entries for them beside those of its parameters.
    pub held_loads: usize,
}

/// The parameters of an L1D, read from a machine file.
pub trait L1dDesign: Design {
    /// Data capacity in bytes.
    fn capacity_bytes(&self) -> u64;

    /// Bytes of the aligned piece of memory in which all of an access has to lie: at most a line of memory.
    fn line_bytes(&self) -> u32 {
        LINE_BYTES as u32
    }

    /// How it is kept coherent.
    fn coherence(&self) -> Coherence {
        Coherence::Boundaries
    }

    /// Whether an L1D can tell what becomes of its lines ([`L1d::tell_news`]), which some warp schedulers have to hear.
    fn tells_news(&self) -> bool {
        false
    }

    /// Whether an L1D shares its storage with shared memory, so that it is [resized](L1d::resize). One that does not keeps
    /// its capacity on any machine.
    fn can_resize(&self) -> bool {
        false
    }

    /// Whether an L1D that keeps lines from launch to launch shows host copies what it has of them ([`L1d::peek`]), and
    /// takes what they write ([`L1d::poke`]).
    fn follows_host_copies(&self) -> bool {
        false
    }

    /// Whether an L1D can have this capacity, in bytes.
    ///
    /// # Errors
    /// Names the parameter that it does not fit, what was found and what was expected.
    fn check_capacity(&self, bytes: u64) -> Result<(), ParameterError> {
        let capacity = self.capacity_bytes();
        if bytes == capacity {
            return Ok(());
        }
        Err(ParameterError::new("capacity", format!("found {bytes} bytes, expected {capacity}")))
    }

    /// Builds an empty L1D.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    fn build(&self, site: L1dSite) -> Result<Box<dyn L1d>, ParameterError>;
}

downcast! { L1dDesign }

/// The L1D design that a machine file selects.
pub type L1dChoice = Named<Arc<dyn L1dDesign>>;
