//! No prefetch.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{PrefetchPolicy, Prefetcher};

/// Fetches only what is asked for.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoPrefetch {}

impl PrefetchPolicy for NoPrefetch {
    fn build(&self) -> Option<Box<dyn Prefetcher>> {
        None
    }
}
