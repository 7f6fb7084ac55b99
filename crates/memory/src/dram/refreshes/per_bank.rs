//! One bank after the other.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{RefreshPolicy, RefreshTarget};

/// One bank after the other, each every `refi` cycles; it serves nothing for `rfc` cycles, the others go on.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerBank {}

impl RefreshPolicy for PerBank {
    fn interval(&self, refi: u64, banks: usize) -> Option<u64> {
        Some((refi / banks as u64).max(1))
    }

    fn target(&self, number: u64, banks: usize) -> RefreshTarget {
        RefreshTarget::Bank((number % banks as u64) as usize)
    }
}
