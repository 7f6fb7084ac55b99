//! A set-associative L1D in SRAM.
//!
//! An access that finds its bytes is performed immediately and completes after the hit latency. One that does
//! not takes an MSHR; every later access to that line waits behind it, and they are performed in order once
//! the bytes have arrived. Atomics and accesses that bypass the cache first send the line's dirty bytes, drop
//! the copy and then go to the last-level cache themselves. Requests to one line stay in order all the way,
//! so no other access has to wait for them.

mod config;
mod design;
mod hint;
mod lookup;
mod sram;
mod store;
#[cfg(test)]
mod tests;

pub use crate::chassis::{L1dStatistics, WriteMissPolicy};
pub use config::{Allocate, SramL1dConfig, WritePolicy};
pub use sram::SramL1d;
