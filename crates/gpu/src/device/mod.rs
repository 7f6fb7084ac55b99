//! Devices that a host program can run on: the modelled GPU, the reference executor, and both in lockstep.

mod arguments;
mod heap;
mod lockstep;
mod reference;
mod system;
mod timed;

pub use heap::{Buffer, Heap};
pub use lockstep::Lockstep;
pub use reference::ReferenceDevice;
pub use timed::TimedDevice;
