//! No refresh.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{RefreshPolicy, RefreshTarget};

/// Nothing is refreshed, as without the section `dram.refresh`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoRefresh {}

impl RefreshPolicy for NoRefresh {
    fn interval(&self, _refi: u64, _banks: usize) -> Option<u64> {
        None
    }

    fn target(&self, _number: u64, _banks: usize) -> RefreshTarget {
        RefreshTarget::AllBanks
    }
}
