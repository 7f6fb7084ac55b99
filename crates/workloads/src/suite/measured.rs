//! What runs of a workload measured: kept beside it, so that listing workloads runs nothing.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Size;

/// A workload at one size, as the reference executor saw it. The file holds more, which pages show.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Measured {
    /// [`inputs_hash`](crate::recording::Recording::inputs_hash) in hexadecimal.
    pub inputs_hash: String,
    /// Bytes of global memory that the program allocates.
    pub footprint_bytes: u64,
    /// Launches.
    pub launches: u64,
    /// Instructions issued by warps.
    pub warp_instructions: u64,
    /// Instructions executed by threads.
    pub thread_instructions: u64,
    /// The kernels that it launches.
    pub kernels: Vec<MeasuredKernel>,
}

/// What a run measured of one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct MeasuredKernel {
    /// Its name.
    pub name: String,
}

impl Measured {
    /// The part of a workload's `measured.toml` that is about one size.
    ///
    /// # Panics
    /// When the file is none that the measuring script wrote.
    pub(super) fn read(workload: &str, text: &str, size: Size) -> Option<Self> {
        let mut sizes: BTreeMap<Size, Self> = toml::from_str(text)
            .unwrap_or_else(|error| panic!("measured.toml of workload `{workload}`: {error}"));
        sizes.remove(&size)
    }
}
