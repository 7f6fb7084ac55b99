//! LRU and FIFO: each way carries the time of its last use, or of its filling.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Replacement, ReplacementPolicy, Shape};
use crate::bits::members;
use crate::touch::Touch;

/// Evicts the least recently used way (Mattson et al., IBM Systems Journal 1970).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lru {}

impl ReplacementPolicy for Lru {
    fn build(&self, shape: Shape) -> Box<dyn Replacement> {
        Box::new(LastUses(Stamps::new(&shape)))
    }
}

/// Evicts the way filled longest ago (Belady, IBM Systems Journal 1966).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fifo {}

impl ReplacementPolicy for Fifo {
    fn build(&self, shape: Shape) -> Box<dyn Replacement> {
        Box::new(Fillings(Stamps::new(&shape)))
    }
}

/// Low bits of a stamp, which hold its way: the least stamp names the victim.
const WAY_BITS: u32 = 6;
const WAY: u64 = (1 << WAY_BITS) - 1;

/// When each way was stamped last, above its number.
#[derive(Clone, Debug)]
pub struct Stamps {
    ways: usize,
    stamps: Vec<u64>,
    clock: u64,
}

impl Stamps {
    pub(super) fn new(shape: &Shape) -> Stamps {
        let stamps = (0..shape.sets * shape.ways).map(|frame| (frame % shape.ways) as u64).collect();
        Stamps { ways: shape.ways, stamps, clock: 0 }
    }

    #[inline]
    pub(super) fn stamp(&mut self, frame: usize) {
        self.clock += 1;
        let stamp = &mut self.stamps[frame];
        *stamp = self.clock << WAY_BITS | *stamp & WAY;
    }

    #[inline]
    pub(super) fn oldest(&self, set: usize, eligible: u64) -> usize {
        let stamps = &self.stamps[set * self.ways..][..self.ways];
        let oldest = if eligible == u64::MAX >> (64 - self.ways) {
            stamps.iter().copied().min()
        } else {
            members(eligible).map(|way| stamps[way]).min()
        };
        (oldest.expect("some way is eligible") & WAY) as usize
    }
}

struct LastUses(Stamps);

impl Replacement for LastUses {
    fn used(&mut self, set: usize, way: usize, _: &Touch) {
        self.0.stamp(set * self.0.ways + way);
    }

    fn filled(&mut self, set: usize, way: usize, _: &Touch) {
        self.0.stamp(set * self.0.ways + way);
    }

    fn victim(&mut self, set: usize, eligible: u64) -> usize {
        self.0.oldest(set, eligible)
    }
}

struct Fillings(Stamps);

impl Replacement for Fillings {
    fn used(&mut self, _: usize, _: usize, _: &Touch) {}

    fn filled(&mut self, set: usize, way: usize, _: &Touch) {
        self.0.stamp(set * self.0.ways + way);
    }

    fn victim(&mut self, set: usize, eligible: u64) -> usize {
        self.0.oldest(set, eligible)
    }
}
