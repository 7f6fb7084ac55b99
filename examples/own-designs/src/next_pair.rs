//! A prefetcher: after a load that misses, fetches the other line of its aligned pair.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_memory::prefetch::{PrefetchPolicy, Prefetcher, Wishes};
use strata_memory::{LineAddress, Touch, TouchKind};

/// After a load that misses, fetches the other line of its aligned pair (an example).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct NextPair {}

impl PrefetchPolicy for NextPair {
    fn build(&self) -> Option<Box<dyn Prefetcher>> {
        Some(Box::new(self.clone()))
    }
}

impl Prefetcher for NextPair {
    fn seen(&mut self, touch: &Touch, hit: bool, wishes: &mut Wishes) {
        if !hit && touch.kind == TouchKind::Load {
            wishes.add(LineAddress(touch.line.0 ^ 1));
        }
    }
}
