//! Networks between SMs and memory partitions, an island for each direction: crossbars and butterflies whose inputs are queues
//! here, the [crossbar] with virtual output queues and the [mesh] in folders of their own.
//!
//! A crossbar or butterfly is switches in stages.
//! A packet of w wire bytes has ceil(w / flit_bytes) flits. Switching is virtual cut-through: a packet is
//! granted an output when the buffer behind it has room for all of its flits, and then holds its input and
//! output for one cycle per flit. Credits count flits. A packet's room in a buffer is freed when its last
//! flit leaves.
//!
//! Without contention, a packet of f flits sent at cycle t over a link of latency L is delivered at t + L +
//! stages * hop_latency + (f - 1): the head moves on immediately in each stage, and the receiver sees the
//! packet when its last flit has arrived.

#[cfg(test)]
mod bench;
mod crossbar;
mod design;
mod island;
mod mesh;
mod parameters;
mod ports;
mod statistics;
#[cfg(test)]
mod tests;

pub use crossbar::{CrossbarConfig, CrossbarNetwork};
pub use island::MultistageNetwork;
pub use mesh::{MeshConfig, MeshNetwork, MeshStatistics, Placement, Switching};
pub use parameters::{Arbitration, MultistageConfig, Topology};
pub use statistics::NetworkStatistics;
