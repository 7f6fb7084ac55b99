//! Designs of the memory hierarchy: one folder each, behind the doors of `strata_memory`.
//!
//! [`registry`] names the designs, and [`contract`] tests what each of them must keep. [`chassis`] is the
//! part of an L1D that designs share around their own store of lines: MSHRs, replay, the network side and
//! flushes.

pub mod baseline;
pub mod chassis;
pub mod contract;
pub mod denovo;
pub mod dma;
pub mod fuse;
pub mod hi_end;
pub mod ideal;
pub mod morpheus;
pub mod registry;
pub mod sram_area;
pub mod stash;
pub mod systems;
pub mod tiny_cache;
