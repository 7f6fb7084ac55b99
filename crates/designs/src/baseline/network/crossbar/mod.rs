//! A crossbar with virtual output queues.
//!
//! Each input keeps its packets by output, so a packet waits for its own output and for no packet to another one. Where
//! inputs are plain queues, those that wait behind the first leave outputs idle: with random destinations, 64 inputs and 80 outputs
//! move at most 64 % of what the outputs could (Karol, Hluchyj and Morgan, IEEE Trans. Communications 35(12), 1987).
//!
//! Each free output takes a packet from a free input, the next one after the input that it served last; outputs choose
//! one after the other, so no free output is left beside a free input that has a packet for it. A packet of f flits holds its input
//! and output for f cycles. Credits count flits, and the queues of an input share its buffer.
//!
//! Without contention, a packet sent at cycle t over a link of latency L is delivered at t + L + hop_latency + (f - 1).

mod design;
mod island;
mod parameters;
mod ports;
#[cfg(test)]
mod tests;

pub use island::CrossbarNetwork;
pub use parameters::CrossbarConfig;
