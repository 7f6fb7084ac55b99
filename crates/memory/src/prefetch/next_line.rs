//! The line behind each one that misses.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{PrefetchPolicy, Prefetcher, Wishes};
use crate::touch::Touch;

/// After a miss, and after the first use of a line that was prefetched, fetches the line behind it (Smith, ACM Computing
/// Surveys 1982: tagged prefetch).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NextLine {}

impl PrefetchPolicy for NextLine {
    fn build(&self) -> Option<Box<dyn Prefetcher>> {
        Some(Box::new(Follow))
    }
}

struct Follow;

impl Prefetcher for Follow {
    fn seen(&mut self, touch: &Touch, hit: bool, wishes: &mut Wishes) {
        if !hit {
            wishes.add_behind(touch.line, 1);
        }
    }
}
