//! Whom a copy lets wait.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose memory instructions wait until a copy is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Blocks {
    /// The core's: one copy at a time, and nothing else (Stash 5.3).
    #[default]
    Core,
    /// The warp's that asked for it, as in D2MA: copies of other warps, and their accesses, go on meanwhile.
    Warp,
}
