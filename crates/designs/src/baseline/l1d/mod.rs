//! An SRAM set-associative L1D.
//!
//! An access that finds its bytes is performed at once and completes after the hit latency. One that does
//! not takes an MSHR; every later access to that line waits behind it and is performed in order when the
//! bytes are here. Atomics, and accesses that bypass the cache, send the line's dirty bytes ahead, drop the
//! copy and go to the last-level cache themselves; since requests to one line stay in order on the way and
//! there, nobody needs to wait for them.

mod config;
mod design;
mod lookup;
mod sram;
mod store;
#[cfg(test)]
mod tests;

pub use crate::chassis::{L1dStatistics, WriteMissPolicy};
pub use config::{Allocate, SramL1dConfig, WritePolicy};
pub use sram::SramL1d;
