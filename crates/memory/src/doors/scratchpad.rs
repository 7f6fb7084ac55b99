//! The door of the scratchpad: what stands behind the banks of an SM's shared memory.

use std::fmt;
use std::sync::Arc;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_warp::{LaneMask, Row, WARP_LANES};

use super::design::{Design, Named, downcast};
use super::lane_path::{LANE_WORDS, LaneAccess, LaneCause};
use crate::address::LineAddress;
use crate::line::{ByteMask, Line};
use crate::node::NodeId;
use crate::packet::Packet;
use crate::parameters::ParameterError;
use crate::slice_map::SliceMap;
use crate::tile::Mapping;
use crate::tray::Tray;

/// What a CTA does with a tile of global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileAction {
    /// Adds it as the CTA's next mapping.
    AddMap,
    /// Makes it the CTA's mapping of an index.
    ChangeMap {
        /// The index.
        index: u32,
    },
    /// Copies it to the scratchpad.
    Load,
    /// Copies it back.
    Store,
}

impl TileAction {
    /// Whether it copies bytes, for which others wait ([`Scratchpad::blocks_core`]).
    pub const fn copies(self) -> bool {
        matches!(self, TileAction::Load | TileAction::Store)
    }
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScratchpadAction {
    /// Reads whole words under a mapping.
    Load,
    /// Writes whole words under a mapping.
    Store,
    /// Accesses bytes without a mapping, which move in the banks: the part only makes room for them.
    Plain,
    /// Maps or copies a tile, whose bytes in global memory are there.
    Tile(TileAction, Mapping),
}

/// A shared memory instruction, as far as it concerns the part behind the banks. It travels in its box and comes back, with the
/// words that it has loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchpadRequest {
    /// Names the request to the load/store unit.
    pub token: u32,
    /// The instruction.
    pub cause: LaneCause,
    /// Slot of the CTA in the SM.
    pub cta: u8,
    /// What it does.
    pub action: ScratchpadAction,
    /// Its lanes: at least one, unless it is an operation on a tile.
    pub lanes: LaneMask,
    /// Bytes of each lane: a power of two up to 32.
    pub width: u8,
    /// By lane, 1 + the index of the mapping among those of the CTA; 0 for none, as [`ScratchpadAction::Plain`].
    pub maps: [u8; WARP_LANES],
    /// By lane, byte offsets in the SM's shared memory, multiples of the width.
    pub addresses: [u32; WARP_LANES],
    /// Word n has bytes 4n to 4n + 3 of every lane: those to store, or those loaded.
    pub words: [Row; LANE_WORDS],
}

impl ScratchpadRequest {
    /// A request without lanes, to be filled in.
    pub const EMPTY: ScratchpadRequest = ScratchpadRequest {
        token: 0,
        cause: LaneCause { pc: 0, warp: 0 },
        cta: 0,
        action: ScratchpadAction::Plain,
        lanes: 0,
        width: 4,
        maps: [0; WARP_LANES],
        addresses: [0; WARP_LANES],
        words: [Row::ZERO; LANE_WORDS],
    };
}

/// A request that can never be performed: a program's error.
#[derive(Debug)]
pub struct Wrong {
    /// The request.
    pub request: Box<ScratchpadRequest>,
    /// The lane at fault.
    pub lane: usize,
    /// What was found and what was expected.
    pub why: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

/// The part behind the banks of shared memory: a stash, or an engine that copies tiles. A machine without one has plain SRAM, and
/// refuses operations on tiles.
///
/// The load/store unit offers every instruction of shared memory when its passes through the banks begin, so in their order, and
/// one at a time: the part performs requests in the order in which it has taken them. The bytes without a mapping
/// stay in the banks, `sram` in what follows. The part has those under a mapping.
///
/// Order: a load under a mapping returns what its CTA wrote last or, before that, what is in global memory.
pub trait Scratchpad: Send {
    /// Whether the part can take a request. If not, it can at an event of its own.
    fn has_room(&self) -> bool;

    /// Whether all memory instructions of the core wait while a tile is copied. If not, the warp waits that asked for it.
    fn blocks_core(&self) -> bool {
        true
    }

    /// Takes a request. Call it only while the part has room. It comes back through [`Scratchpad::completed`].
    ///
    /// # Errors
    /// Returns a request that can never be performed, of which nothing has happened.
    fn offer(&mut self, request: Box<ScratchpadRequest>, now: Cycle) -> Result<(), Wrong>;

    /// Performs the internal work of one cycle.
    fn tick(&mut self, sram: &mut [u8], now: Cycle);

    /// Takes the next request that is complete at `now`.
    fn completed(&mut self, now: Cycle) -> Option<Box<ScratchpadRequest>>;

    /// Takes the next access to global memory that goes past the L1D. The load/store unit takes at most one a cycle and performs
    /// them in order.
    fn access(&mut self, now: Cycle) -> Option<LaneAccess> {
        let _ = now;
        None
    }

    /// Takes back the tray of an access that has been performed; of one that reads, with the bytes.
    fn performed(&mut self, token: u32, tray: Tray, now: Cycle) {
        unreachable!("no access was made: {token}, {tray:?} in {now}");
    }

    /// Takes a packet from the network. It cannot be refused.
    fn accept(&mut self, packet: Packet, now: Cycle) {
        unreachable!("nothing was asked of the network: {packet:?} in {now}");
    }

    /// Takes the next packet for the network of requests. Call it only when the network can accept the packet.
    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let _ = now;
        None
    }

    /// Wire size in bytes of the packet that [`Scratchpad::outgoing`] would return; `None` if it would return none.
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        let _ = now;
        None
    }

    /// Takes the next packet for the network of owners: what the part says about words that it owns
    /// ([`Coherence::Owners`](super::Coherence::Owners)).
    fn answer(&mut self, now: Cycle) -> Option<Packet> {
        let _ = now;
        None
    }

    /// Wire size in bytes of the packet that [`Scratchpad::answer`] would return; `None` if it would return none.
    fn answer_bytes(&self, now: Cycle) -> Option<u32> {
        let _ = now;
        None
    }

    /// Reads a line for a host copy between kernels; takes no simulated time. `below` holds the bytes of the levels below, over
    /// which the part writes the words that it owns.
    fn peek(&mut self, line: LineAddress, below: &mut Line) {
        let _ = (line, below);
    }

    /// Updates the words that the part owns after a host copy wrote `bytes` of the line between kernels; takes no simulated
    /// time.
    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        let _ = (line, bytes, data);
    }

    /// A CTA has ended, and its mappings with it. Its requests are complete.
    fn end_cta(&mut self, cta: u8, now: Cycle);

    /// The kernel has ended: everything that others wait for is sent, and what may be old at the next kernel is dropped.
    /// Returns whether that is done; called every time that something has changed until it is.
    fn end_kernel(&mut self, now: Cycle) -> bool;

    /// Whether nothing is under way. What the part keeps for later kernels is not.
    fn is_idle(&self) -> bool;

    /// Earliest cycle, not before `now`, at which a tick would do work, or a completion, access or packet could be
    /// taken, assuming that nothing is offered and nothing arrives meanwhile.
    fn next_event(&self, now: Cycle) -> Cycle;

    /// Appends to `report` one sentence for each thing that the part waits for.
    fn waits(&self, report: &mut Vec<String>);

    /// Its counters, one group for each set of statistics.
    fn statistics(&self) -> Vec<Group>;
}

/// The place of a scratchpad in the machine.
#[derive(Clone, Copy, Debug)]
pub struct ScratchpadSite {
    /// Network node of its SM.
    pub node: NodeId,
    /// Maps each line to the slice that serves its requests.
    pub slices: SliceMap,
    /// Bytes of shared memory.
    pub bytes: u32,
    /// CTA slots of the SM.
    pub ctas: u32,
}

/// The parameters of a scratchpad, read from a machine file.
pub trait ScratchpadDesign: Design {
    /// Whether the words under its mappings have owners that a coherence protocol must know.
    fn needs_owners(&self) -> bool {
        false
    }

    /// Whether anything stands behind the banks.
    fn stands_there(&self) -> bool {
        true
    }

    /// Bytes of the aligned piece of memory in which each of its accesses to the L1D lies; 0 if it makes none.
    fn access_bytes(&self) -> u32 {
        0
    }

    /// Whether it fits an SM with so many bytes of shared memory and so many CTA slots.
    ///
    /// # Errors
    /// Names the first parameter that does not, what was found and what was expected.
    fn check_place(&self, bytes: u32, ctas: u32) -> Result<(), ParameterError> {
        let _ = (bytes, ctas);
        Ok(())
    }

    /// Builds an empty part; `None` if nothing stands behind the banks.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    fn build(&self, site: ScratchpadSite) -> Result<Option<Box<dyn Scratchpad>>, ParameterError>;
}

downcast! { ScratchpadDesign }

/// The scratchpad that a machine file selects.
pub type ScratchpadChoice = Named<Arc<dyn ScratchpadDesign>>;
