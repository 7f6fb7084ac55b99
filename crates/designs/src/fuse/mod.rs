//! FUSE: SRAM and STT-MRAM fused into one L1D.
mod approximation;
mod arbitrator;
mod build;
mod checks;
mod config;
mod datapath;
mod dead_write;
mod directory;
mod flush;
mod l1d;
mod lines;
mod nvm_cbf;
mod placement;
mod places;
mod predictor;
mod sram_bank;
mod stages;
mod statistics;
mod stt_bank;
mod swap_buffer;
mod tag_queue;
#[cfg(test)]
mod tests;

pub use config::{
    ApproximationConfig, DeadWriteConfig, FuseConfig, PredictorConfig, QueueConfig, Saturated, SearchKind,
    SramConfig, SttConfig, SttHit,
};
pub use l1d::FuseL1d;
pub use statistics::FuseStatistics;
