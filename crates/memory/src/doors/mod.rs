//! The doors: what stands between the parts of a machine, whatever design is behind.
//!
//! | door | between | contract |
//! |---|---|---|
//! | [`RegisterFile`] | operand collectors, write-back, banks | rows are read as they were when asked for |
//! | [`L1d`] | coalesced accesses, the network | accesses to a line are performed in order |
//! | [`Network`] | SMs, LLC slices | packets arrive once, in order for each pair of nodes |
//! | [`Llc`] | the network, a DRAM channel | requests of a source to a line are performed in order |
//!
//! A door takes the time as an argument, answers "full" by handing the request back, says the earliest
//! cycle at which it could change anything, and allocates nothing after start-up. A slot freed in cycle t
//! is usable from t + 1.
//!
//! Each door has a second face, for the house that builds machines: a [`Design`] is the numbers of one, read from a
//! machine file, and knows how to check, describe and build it.

mod design;
mod l1d;
mod llc;
mod network;
mod register_file;

pub use design::{Design, HOST_ITEM_BYTES, Named};
pub use l1d::{Access, Action, Completion, L1d, L1dChoice, L1dDesign, L1dSite, Policy, Refusal};
pub use llc::{DramPort, DramRequest, Llc, LlcChoice, LlcDesign, LlcSite};
pub use network::{Direction, Network, NetworkChoice, NetworkDesign, NetworkEnds, NetworkSite, network_link};
pub use register_file::{
    CollectorPort, RegisterFile, RegisterFileChoice, RegisterFileDesign, RegisterFileSite, Ticket,
};
