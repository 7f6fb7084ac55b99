//! The doors of the memory hierarchy, and the parts that designs share.
//!
//! This crate depends on no paper's design and on no SM.

pub mod address;
pub mod address_map;
pub mod area;
pub mod atomic;
pub mod base_delta;
pub mod bits;
pub mod cache;
mod client;
pub mod doors;
pub mod dram;
pub mod flit;
pub mod insertion;
pub mod interleave;
pub mod ipoly;
mod level;
pub mod line;
pub mod memory_cache;
pub mod mshr;
pub mod node;
pub mod ownership;
pub mod packet;
pub mod packets;
pub mod parameters;
pub mod partition;
pub mod policy;
pub mod prefetch;
pub mod read_only;
pub mod register_banks;
pub mod replacement;
pub mod slice_map;
pub mod sub_cores;
pub mod tags;
pub mod tile;
pub mod touch;
pub mod translation;
pub mod tray;
mod warp_rows;
pub mod window;

pub use address::{Address, LINE_BYTES, LineAddress};
pub use address_map::AddressMap;
pub use client::Client;
pub use flit::FlitSize;
pub use level::Level;
pub use line::{ByteMask, Line};
pub use node::NodeId;
pub use packet::{Body, Contents, HEADER_BYTES, Packet, Purpose};
pub use packets::Packets;
pub use parameters::ParameterError;
pub use register_banks::RegisterBanks;
pub use slice_map::SliceMap;
pub use touch::{Origin, Touch, TouchKind};
pub use tray::{Tray, Trays};
pub use warp_rows::WarpRows;
