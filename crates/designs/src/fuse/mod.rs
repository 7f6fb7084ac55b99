//! FUSE: an L1D of SRAM and STT-MRAM (Zhang, Jung, Kandemir: HPCA 2019).

pub mod area;
