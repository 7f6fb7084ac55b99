//! A prefetcher: after a load that misses, fetches the other line of its aligned pair.

use strata_memory::cache::policy::Entry;
use strata_memory::prefetch::{Make, Prefetcher, Wishes};
use strata_memory::{LineAddress, Touch, TouchKind};

/// The policy's name and what makes it.
pub const NEXT_PAIR: Entry<Make> = Entry {
    name: "pair",
    meaning: "After a load that misses, fetches the other line of its aligned pair",
    source: "an example",
    make: || Some(Box::new(Pair)),
};

struct Pair;

impl Prefetcher for Pair {
    fn seen(&mut self, touch: &Touch, hit: bool, wishes: &mut Wishes) {
        if !hit && touch.kind == TouchKind::Load {
            wishes.add(LineAddress(touch.line.0 ^ 1));
        }
    }
}
