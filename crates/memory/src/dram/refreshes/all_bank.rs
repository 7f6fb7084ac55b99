//! All banks at once.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{RefreshPolicy, RefreshTarget};

/// All banks at once, every `refi` cycles; they serve nothing for `rfc` cycles.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllBank {}

impl RefreshPolicy for AllBank {
    fn interval(&self, refi: u64, _banks: usize) -> Option<u64> {
        Some(refi)
    }

    fn target(&self, _number: u64, _banks: usize) -> RefreshTarget {
        RefreshTarget::AllBanks
    }
}
