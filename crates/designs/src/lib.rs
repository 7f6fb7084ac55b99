//! Memory organisations: one folder each, behind the doors of the memory room.
//!
//! [`registry`] names them; [`contract`] holds what every one of them must keep. [`chassis`] is what L1Ds share around
//! the store of their lines: MSHRs, replay, the way to the network and back, flushes.

pub mod baseline;
pub mod chassis;
#[cfg(any(test, doc, feature = "testing"))]
pub mod contract;
pub mod fuse;
pub mod registry;
pub mod sram_area;
pub mod systems;
