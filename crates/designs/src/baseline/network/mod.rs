//! Crossbars and butterflies: switches in stages between SMs and memory partitions, an island for each direction.
//!
//! A packet of w wire bytes is ceil(w / flit_bytes) flits. Switching is virtual cut-through: a packet is
//! granted an output when the buffer behind it has room for all of its flits, and then holds its input and
//! its output for one cycle per flit. Credits count flits. A packet's place in a buffer is given back when
//! its last flit leaves.
//!
//! Uncontended, a packet of f flits that is sent at cycle t over a link of latency L is delivered at
//! t + L + stages * hop_latency + (f - 1): the head moves on at once in each stage, the receiver sees the
//! packet when its last flit is there.

mod design;
mod island;
mod parameters;
mod ports;
mod statistics;
#[cfg(test)]
mod tests;

pub use island::MultistageNetwork;
pub use parameters::{Arbitration, MultistageConfig, Topology};
pub use statistics::NetworkStatistics;
