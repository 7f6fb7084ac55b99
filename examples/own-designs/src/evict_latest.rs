//! A replacement policy: evicts the way that was used last, so that a loop longer than its set keeps most of its lines.

use strata_memory::Touch;
use strata_memory::cache::policy::Entry;
use strata_memory::replacement::{Make, Replacement};

/// The policy's name and what makes it.
pub const EVICT_LATEST: Entry<Make> = Entry {
    name: "evict-latest",
    meaning: "Evicts the way that was used last",
    source: "an example",
    make: |shape| {
        Ok(Box::new(EvictLatest { ways: shape.ways, used: vec![0; shape.sets * shape.ways], clock: 0 }))
    },
};

struct EvictLatest {
    ways: usize,
    used: Vec<u64>,
    clock: u64,
}

impl Replacement for EvictLatest {
    fn used(&mut self, set: usize, way: usize, _: &Touch) {
        self.clock += 1;
        self.used[set * self.ways + way] = self.clock;
    }

    fn filled(&mut self, set: usize, way: usize, touch: &Touch) {
        self.used(set, way, touch);
    }

    fn victim(&mut self, set: usize, eligible: u64) -> usize {
        let ways = (0..self.ways).filter(|way| eligible >> way & 1 == 1);
        ways.max_by_key(|way| self.used[set * self.ways + way]).expect("some way is eligible")
    }
}
