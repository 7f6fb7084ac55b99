//! A two-dimensional mesh of routers with virtual channels, an island for each direction.
//!
//! A packet of w wire bytes has ceil(w / flit_bytes) flits. It goes along its row first and then along its
//! column (dimension-order, or X-Y, routing), so no cycle of waits can form among the channels.
//! Every input of a router has a few virtual channels, each a buffer of its own; credits count flits. The
//! head of a packet is given a free virtual channel of the next input and keeps it until the tail has left
//! its own buffer. With wormhole switching a flit moves on as soon as there is room for it, with virtual
//! cut-through a channel is given only while it has room for the whole packet (Dally and Towles, Principles
//! and Practices of Interconnection Networks, 2004, chapters 13 and 16).
//!
//! A router takes its cycles in the classic pipeline: route computation, virtual-channel allocation, switch
//! allocation with the passage of the switch; then comes the link. Only heads take the first two. Virtual
//! channels are given round robin; the switch is allocated by one iteration of iSLIP (McKeown, IEEE/ACM
//! Transactions on Networking 7(2), 1999), one flit per input and output each cycle.
//!
//! A node has a port of its own at its router, and several nodes may share a router. Between node and
//! router stand network interfaces: one cuts packets into flits, one a cycle; the other puts them together
//! again, with room set aside in the receiver's buffer before the head leaves the last router.
//!
//! Without contention, a packet of f flits sent at cycle t that passes h routers is delivered at
//! t + 2 * interface + h * router + (h - 1) * link + (f - 1), where a router takes its routing,
//! VC-allocation and switch cycles.
//!
//! Packets from one node to another stay in order although several channels are open to them: the head of
//! one bids for a channel only when the earlier ones of the same two nodes at its input have theirs, and for
//! the switch only when their tails have left. A head that waits for this has a channel that nobody needs to
//! let those tails go, so no deadlock comes of it.

mod allocate;
mod design;
mod interface;
mod island;
mod parameters;
mod placement;
mod port;
mod report;
mod router;
mod statistics;
#[cfg(test)]
mod tests;
mod topology;

pub use island::MeshNetwork;
pub use parameters::{MeshConfig, Placement, Switching};
pub use statistics::{MeshStatistics, TrafficStatistics};
