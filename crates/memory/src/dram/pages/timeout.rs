//! Rows are closed after a while.

use schemars::JsonSchema;
use serde::Deserialize;

use super::PagePolicy;

/// A row is closed when it has not been used for a number of cycles and no request wants it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timeout {
    /// DRAM cycles from the last burst's command on.
    cycles: u32,
}

impl PagePolicy for Timeout {
    fn closes_from(&self, last_burst: u64) -> Option<u64> {
        Some(last_burst + u64::from(self.cycles))
    }
}
