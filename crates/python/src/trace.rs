//! What is traced of a run.

use pyo3::prelude::*;
use strata_gpu::trace::{TraceOptions, WINDOW_CYCLES};

/// What is traced; what is not given is as in the command.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Traced {
    from: Option<u64>,
    cycles: Option<u64>,
    launch: Option<u64>,
    sms: Option<Vec<u16>>,
    sample: Option<u64>,
    sample_warps: Option<u64>,
}

impl Traced {
    /// The same, as a run knows it.
    pub fn options(self) -> TraceOptions {
        TraceOptions {
            from: self.from.unwrap_or(0),
            cycles: self.cycles.unwrap_or(WINDOW_CYCLES),
            launch: self.launch,
            sms: self.sms.unwrap_or_default(),
            sample: self.sample.unwrap_or(1),
            sample_warps: self.sample_warps.unwrap_or(1),
        }
    }
}
