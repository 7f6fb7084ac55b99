//! A conventional slice of the L2: set-associative, write-back, with atomics where the line lives.
//!
//! Requests are looked up in order, one a cycle. One that finds its bytes is performed at once; one that
//! does not takes an MSHR, and every later request to that line waits behind it. All replies leave through
//! one queue with one latency, and all requests to DRAM through one queue: so replies to a line stay in
//! order, and a line's dirty bytes arrive before it is fetched again.

mod config;
mod design;
mod dram_side;
mod lookup;
mod slice;
mod statistics;
#[cfg(test)]
mod tests;

pub use config::L2Config;
pub use slice::L2Slice;
pub use statistics::L2Statistics;
