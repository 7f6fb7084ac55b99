//! Rows are closed as soon as nobody wants them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::PagePolicy;

/// A row is closed as soon as no request in the queue wants it, as a burst with auto-precharge closes it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Closed {}

impl PagePolicy for Closed {
    fn closes_from(&self, last_burst: u64) -> Option<u64> {
        Some(last_burst)
    }
}
