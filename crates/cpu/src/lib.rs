//! A CPU core beside the GPU, cycle by cycle: in order, scalar, one thread of a PTX program at a time.
//!
//! ```text
//!   threads of a phase --> registers --> one instruction a cycle
//!                                          |
//!                                          +--> load/store unit --> L1D ==> network
//! ```
//!
//! [`Core`] is an island: it communicates only through links. It has a clock of its own; all cycles here are the core's.
//!
//! The core executes the same decoded program as an SM, with the same functions for what an instruction computes
//! ([`strata_ptx::exec`]), for control flow ([`strata_ptx::simt`]) and for memory accesses ([`strata_sm::lsu`]), on one lane.
//!
//! An instruction takes a cycle, whatever it computes. An instruction that needs a value from memory blocks the core until
//! the value is there: with an idle L1D, a load that issues in cycle t accesses the L1D in t + a, and the next instruction
//! issues in t + a + h, where a is `address_latency_cycles` and h the L1D's hit latency. Stores go on to the L1D by
//! themselves, in order, as long as the store buffer has room. Fetching instructions costs nothing.

mod config;
mod control;
mod core;
mod memory;
mod operands;
mod state;
mod statistics;
mod thread;

#[cfg(test)]
mod tests;

pub use config::{CoreModel, CpuConfig};
pub use core::{Core, CoreId, CoreParts};
pub use statistics::CpuStatistics;
