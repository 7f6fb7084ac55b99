//! The doors: the interfaces between the parts of a machine, behind which any design can stand.
//!
//! | door | between | contract |
//! |---|---|---|
//! | [`LanePath`] | lanes' addresses, coalescer, shared memory | a lane sees its thread's own writes |
//! | [`Scratchpad`] | banks of shared memory, global memory | a CTA sees its own writes under a mapping |
//! | [`RegisterFile`] | operand collectors, write-back, banks | a read returns the row as it was when requested |
//! | [`L1d`] | coalesced accesses, the network | accesses to a line are performed in order |
//! | [`Network`] | SMs, LLC slices | packets arrive once, in order for each pair of nodes |
//! | [`Llc`] | the network, a DRAM channel | requests of a source to a line are performed in order |
//!
//! The methods of a door take the current cycle as an argument. A full part returns the request that it
//! cannot take. Each part names the earliest cycle at which it could do work, and allocates nothing after
//! start-up. A slot freed in cycle t is usable from t + 1. A cycle is one of the part's own clock: the core clock, or those of
//! the network and the last-level cache in machines where these differ.
//!
//! Each door also has a [`Design`] trait for building machines: the parameters of one part, read from a
//! machine file, with methods to check, describe and build it.

mod design;
mod dram;
mod l1d;
mod lane_path;
mod llc;
mod network;
mod register_file;
mod scratchpad;

pub use crate::register_banks::{Arrival, Ticket};
pub use design::{Coherence, Design, HOST_ITEM_BYTES, Named};
pub use dram::{DramPort, DramRequest, RoomWait};
pub use l1d::{
    Access, Action, Completion, Hint, HintLevel, Hinted, L1d, L1dChoice, L1dDesign, L1dSite, LineNews,
    Policy, Refusal,
};
pub use lane_path::{
    LANE_WORDS, LaneAccess, LaneAction, LaneCause, LaneDone, LaneEvent, LaneItem, LanePath, LanePathChoice,
    LanePathDesign, LanePathSite, LaneRequest, LaneSpace,
};
pub use llc::{Epochs, HelperKernel, Helpers, Llc, LlcChoice, LlcDesign, LlcSite, SetPlace};
pub use network::{
    Direction, Network, NetworkChoice, NetworkDesign, NetworkEnds, NetworkSite, network_link,
    network_link_between,
};
pub use register_file::{
    CollectorPort, OperandAccesses, RegisterFile, RegisterFileChoice, RegisterFileDesign, RegisterFileSite,
    WideAccesses,
};
pub use scratchpad::{
    Scratchpad, ScratchpadAction, ScratchpadChoice, ScratchpadDesign, ScratchpadRequest, ScratchpadSite,
    TileAction, Wrong,
};
