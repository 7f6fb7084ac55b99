//! LRU and FIFO: each way carries the time of its last use, or of its filling.

use super::{Make, Replacement, Shape};
use crate::bits::members;
use crate::cache::policy::Entry;
use crate::touch::Touch;

pub(super) const LRU: Entry<Make> = Entry {
    name: "lru",
    meaning: "Evicts the least recently used way",
    source: "Mattson et al., IBM Systems Journal 1970",
    make: |shape| Ok(Box::new(Lru(Stamps::new(&shape)))),
};

pub(super) const FIFO: Entry<Make> = Entry {
    name: "fifo",
    meaning: "Evicts the way filled longest ago",
    source: "Belady, IBM Systems Journal 1966",
    make: |shape| Ok(Box::new(Fifo(Stamps::new(&shape)))),
};

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

struct Lru(Stamps);

impl Replacement for Lru {
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

struct Fifo(Stamps);

impl Replacement for Fifo {
    fn used(&mut self, _: usize, _: usize, _: &Touch) {}

    fn filled(&mut self, set: usize, way: usize, _: &Touch) {
        self.0.stamp(set * self.0.ways + way);
    }

    fn victim(&mut self, set: usize, eligible: u64) -> usize {
        self.0.oldest(set, eligible)
    }
}
