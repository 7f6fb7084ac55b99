//! The door of the lane path: what stands between the addresses of a warp's lanes and the coalescer of global memory,
//! or the banks of shared memory.

use std::sync::Arc;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_warp::{LaneMask, Row, WARP_LANES};

use super::design::{Design, Named, downcast};
use crate::address::LineAddress;
use crate::line::ByteMask;
use crate::parameters::ParameterError;
use crate::tray::Tray;

/// Largest number of words that an instruction moves for each lane.
pub const LANE_WORDS: usize = 8;

/// The memory in which bytes lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneSpace {
    /// Global memory, by device address.
    Global,
    /// Shared memory, by byte offset in the SM's scratchpad.
    Shared,
}

impl LaneSpace {
    /// Both spaces, in the order of their indices.
    pub const ALL: [LaneSpace; 2] = [LaneSpace::Global, LaneSpace::Shared];
}

/// What a request does with its lanes' bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneAction {
    /// Reads them.
    Load,
    /// Writes them.
    Store,
    /// Leaves them to the memory below: atomics, strong accesses, asynchronous copies. Before the request goes on, the
    /// memory below has each lane's newest bytes at the lane's address; afterwards the lane holds no copy of them.
    Pass,
    /// Leaves them to the memory below on behalf of the whole warp (`ldmatrix`): like `Pass`, for every lane at every
    /// address.
    Collective,
}

/// The instruction that makes a request, for predictors below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneCause {
    /// Its program counter.
    pub pc: u32,
    /// Its warp slot.
    pub warp: u8,
}

/// The lanes of a memory instruction that access one space.
///
/// A request travels through the path in its box and comes back with its words filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneRequest {
    /// Names the request to the load/store unit.
    pub token: u32,
    /// The instruction.
    pub cause: LaneCause,
    /// Slot of the CTA in the SM.
    pub cta: u8,
    /// The memory that it accesses.
    pub space: LaneSpace,
    /// What it does.
    pub action: LaneAction,
    /// Its lanes, at least one.
    pub lanes: LaneMask,
    /// Bytes of each lane: a power of two up to 32.
    pub width: u8,
    /// By lane, a multiple of the width; those of other lanes mean nothing.
    pub addresses: [u64; WARP_LANES],
    /// Word n has bytes 4n to 4n + 3 of every lane: those to store, or those loaded.
    pub words: [Row; LANE_WORDS],
}

impl LaneRequest {
    /// A request without lanes, to be filled in.
    pub const EMPTY: LaneRequest = LaneRequest {
        token: 0,
        cause: LaneCause { pc: 0, warp: 0 },
        cta: 0,
        space: LaneSpace::Global,
        action: LaneAction::Pass,
        lanes: 0,
        width: 4,
        addresses: [0; WARP_LANES],
        words: [Row::ZERO; LANE_WORDS],
    };
}

/// A point in the order of memory operations, after which threads may see each other's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneEvent {
    /// A barrier of a CTA is complete.
    Barrier {
        /// Slot of the CTA.
        cta: u8,
    },
    /// Threads of these lanes perform a fence, or meet at a barrier of their warp.
    Fence {
        /// The lanes.
        lanes: LaneMask,
    },
    /// A CTA has ended. Its shared memory is dead.
    CtaEnd {
        /// Slot of the CTA.
        cta: u8,
    },
}

/// An access of a path's own to the memory below.
#[derive(Debug)]
pub struct LaneAccess {
    /// Names the access to the path.
    pub token: u32,
    /// The instruction that causes it; an event causes accesses of instruction 0.
    pub cause: LaneCause,
    /// In shared memory, a line of the scratchpad.
    pub line: LineAddress,
    /// The bytes to read or write.
    pub bytes: ByteMask,
    /// Whether it writes the bytes in its tray. Otherwise the tray comes back with the bytes read.
    pub writes: bool,
    /// Comes back through [`LanePath::accept`] when the access has been performed.
    pub tray: Tray,
}

/// What a path sends to the memory below.
#[derive(Debug)]
pub enum LaneItem {
    /// An access of its own.
    Access(LaneAccess),
    /// A request that goes on by the way on which it would go without a path.
    Pass(Box<LaneRequest>),
}

/// What a path has finished.
#[derive(Debug)]
pub enum LaneDone {
    /// A load whose words have arrived, or a store that the path has taken.
    Request(Box<LaneRequest>),
    /// The event of this token: the memory below has performed every write of the path's own from before it.
    Event(u32),
}

/// A path of the lanes' bytes: per-lane caches, for instance. A machine without one sends lanes straight on.
///
/// The load/store unit hands requests and events to the path one a cycle, in the order in which their warps issued
/// them. The memory below takes what the path sends for a space in the order in which the path sends it, and performs
/// accesses to a line in that order.
///
/// Order: a load returns what its own thread wrote last; or, of what others wrote, at least what they wrote before an
/// event that orders them, and anything written since. A thread always uses the same lane. Bytes that no thread wrote
/// never change: two threads may write different bytes of one line between the same events.
pub trait LanePath: Send {
    /// Offers a request. A refused request is returned; the refusal changes only counters.
    #[allow(clippy::missing_errors_doc, reason = "the error is the request")]
    fn offer(&mut self, request: Box<LaneRequest>, now: Cycle) -> Result<(), Box<LaneRequest>>;

    /// Offers an event, to be reported by [`LaneDone::Event`] with this token. Returns false if it is refused.
    fn order(&mut self, event: LaneEvent, token: u32, now: Cycle) -> bool;

    /// Performs the internal work of one cycle.
    fn tick(&mut self, now: Cycle);

    /// Takes the next item for the memory of a space. Call it only when that memory can take one.
    fn outgoing(&mut self, space: LaneSpace, now: Cycle) -> Option<LaneItem>;

    /// Takes back the tray of an access that has been performed.
    fn accept(&mut self, token: u32, tray: Tray, now: Cycle);

    /// Takes the next request or event that is finished at `now`.
    fn completed(&mut self, now: Cycle) -> Option<LaneDone>;

    /// Whether nothing is in flight and no lane holds bytes that the memory below lacks.
    fn is_idle(&self) -> bool;

    /// Earliest cycle, not before `now`, at which a tick would do work, an item or a finished request could be taken,
    /// or a refused offer might succeed, assuming that no tray is returned meanwhile.
    fn next_event(&self, now: Cycle) -> Cycle;

    /// Appends to `report` one sentence for each thing that the path waits for.
    fn waits(&self, report: &mut Vec<String>);

    /// Its counters, one group for each set of statistics.
    fn statistics(&self) -> Vec<Group>;
}

/// The place of a lane path in the machine.
#[derive(Clone, Copy, Debug)]
pub struct LanePathSite {
    /// Largest number of accesses in flight below, from the load/store unit.
    pub accesses: usize,
    /// Seed of the path's random streams.
    pub seed: u64,
}

/// The parameters of a lane path, read from a machine file.
pub trait LanePathDesign: Design {
    /// Whether it may keep bytes of shared memory. If not, the scratchpad's door can have a part of its own.
    fn keeps_shared(&self) -> bool {
        true
    }

    /// Builds an empty path; `None` when lanes go straight on.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    fn build(&self, site: LanePathSite) -> Result<Option<Box<dyn LanePath>>, ParameterError>;
}

downcast! { LanePathDesign }

/// The lane path that a machine file selects.
pub type LanePathChoice = Named<Arc<dyn LanePathDesign>>;
