//! Memory organisations: one folder each, behind the doors of the memory room.
//!
//! `contract` holds what every one of them must keep.

pub mod baseline;
mod chassis;
#[cfg(any(test, feature = "testing"))]
pub mod contract;
pub mod fuse;
pub mod systems;
