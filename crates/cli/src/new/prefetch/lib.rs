//! A prefetch policy of one's own: after a load that misses, the lines behind it.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_designs::registry::Registry;
use strata_memory::prefetch::{PrefetchPolicy, Prefetcher, Wishes};
use strata_memory::{Touch, TouchKind};

/// After a load that misses, fetches the lines behind it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ahead {
    /// How many lines.
    pub lines: u8,
}

impl PrefetchPolicy for Ahead {
    fn build(&self) -> Option<Box<dyn Prefetcher>> {
        Some(Box::new(self.clone()))
    }
}

impl Prefetcher for Ahead {
    fn seen(&mut self, touch: &Touch, hit: bool, wishes: &mut Wishes) {
        if !hit && touch.kind == TouchKind::Load {
            (1..=self.lines).for_each(|lines| wishes.add_behind(touch.line, lines.into()));
        }
    }
}

/// Adds the policy, as `my-idea`.
pub fn add(registry: Registry) -> Registry {
    registry.with_prefetch::<Ahead>("my-idea")
}

#[cfg(test)]
mod tests {
    use strata_memory::LineAddress;

    use super::*;

    #[test]
    fn a_load_that_misses_is_what_counts() {
        let mut ahead = Ahead { lines: 2 }.build().unwrap();
        let mut wishes = Wishes::default();
        let line = LineAddress(5);
        wishes.ask_for(line);
        for (kind, hit, expected) in [
            (TouchKind::Load, true, &[][..]),
            (TouchKind::Store, false, &[]),
            (TouchKind::Load, false, &[LineAddress(6), LineAddress(7)]),
        ] {
            ahead.seen(&Touch { line, kind, ..Touch::default() }, hit, &mut wishes);
            assert_eq!(wishes.lines().collect::<Vec<_>>(), expected, "{kind:?}, hit: {hit}");
        }
    }
}
