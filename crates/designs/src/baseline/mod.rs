//! The conventional designs, one behind each door.

mod l1d;
mod l2;
mod lane_path;
mod network;
mod register_file;
mod scratchpad;

pub use l1d::{Allocate, L1dStatistics, SramL1d, SramL1dConfig, WriteMissPolicy, WritePolicy};
pub use l2::{L2Config, L2Slice, L2Statistics};
pub use lane_path::StraightConfig;
pub use network::{
    Arbitration, CrossbarConfig, CrossbarNetwork, MeshConfig, MeshNetwork, MeshStatistics, MultistageConfig,
    MultistageNetwork, NetworkStatistics, Placement, Switching, Topology,
};
pub use register_file::{RegisterFileStatistics, SramRegisterFile, SramRegisterFileConfig};
pub use scratchpad::SramScratchpadConfig;
