//! Devices that a host program can run on: the modelled GPU, the reference executor, and both in lockstep.

mod arguments;
mod heap;

pub use heap::{Buffer, Heap};
