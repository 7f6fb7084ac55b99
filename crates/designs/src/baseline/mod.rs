//! The baseline: an SRAM set-associative L1D.
//!
//! An access that finds its bytes is performed at once and completes after the hit latency. One that does
//! not takes an MSHR; every later access to that line waits behind it and is performed in order when the
//! bytes are here. Atomics, and accesses that bypass the cache, send the line's dirty bytes ahead, drop the
//! copy and go to the last-level cache themselves; since requests to one line stay in order on the way and
//! there, nobody needs to wait for them.

mod bypass;
mod config;
mod flush;
mod lookup;
mod network_side;
mod replay;
mod sram;
mod statistics;
#[cfg(test)]
mod tests;

pub use config::{SramL1dConfig, WriteMissPolicy, WritePolicy};
pub use sram::SramL1d;
pub use statistics::L1dStatistics;
