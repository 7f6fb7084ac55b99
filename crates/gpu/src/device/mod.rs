//! Devices that a host program can run on: the modelled GPU, the reference executor, and both in lockstep.

mod arguments;
mod heap;
mod reference;

pub use heap::{Buffer, Heap};
pub use reference::ReferenceDevice;
