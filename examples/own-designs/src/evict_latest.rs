//! A replacement policy: evicts the way that was used last, so that a loop longer than its set keeps most of its lines.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_memory::Touch;
use strata_memory::replacement::{Replacement, ReplacementPolicy, Shape};

/// Evicts the way that was used last (an example).
#[derive(Debug, Deserialize, JsonSchema)]
pub struct EvictLatest {}

impl ReplacementPolicy for EvictLatest {
    fn build(&self, shape: Shape) -> Box<dyn Replacement> {
        Box::new(Uses { ways: shape.ways, used: vec![0; shape.sets * shape.ways], clock: 0 })
    }
}

struct Uses {
    ways: usize,
    used: Vec<u64>,
    clock: u64,
}

impl Replacement for Uses {
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
