//! Rows stay open.

use schemars::JsonSchema;
use serde::Deserialize;

use super::PagePolicy;

/// A row stays open until a request wants another row of its bank, or a refresh closes it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Open {}

impl PagePolicy for Open {
    fn closes_from(&self, _last_burst: u64) -> Option<u64> {
        None
    }

    fn closes_rows(&self) -> bool {
        false
    }
}
