//! The hit/miss predictor of a set (4.1.2, Fig. 6): two Bloom filters that take turns.
//!
//! `asked` has at least all blocks of the set; `next` has the blocks used last. Once these are as many as the set is deep, they
//! are all that it can hold, so `next` takes the place of `asked` and begins anew. An LRU set is as deep as it has ways. A
//! compressed one, in which each level has its own victims, tells its depth: every block of it is among so many used last. An
//! access is told when the set's warp has performed it: before that, the block that it drives out may still be on its way to
//! memory.

use super::filter::Filter;

/// The predictor of one set.
#[derive(Clone, Debug)]
pub struct Predictor {
    /// BF1.
    asked: Filter,
    /// BF2.
    next: Filter,
    /// Blocks in `next`, at least.
    count: u32,
}

impl Predictor {
    /// The predictor of an empty set.
    pub fn new(filter: Filter) -> Predictor {
        Predictor { asked: filter.clone(), next: filter, count: 0 }
    }

    /// Whether the set may hold the block. Never false for a block that is there.
    pub fn may_hold(&self, block: u64) -> bool {
        self.asked.has(block)
    }

    /// Notes that a block was inserted or used in a set that is so deep now. Returns whether the filters changed places.
    pub fn used(&mut self, block: u64, depth: u32) -> bool {
        // A block that `next` has by chance is not counted, which only puts the change off.
        self.count += u32::from(!self.next.has(block));
        self.asked.insert(block);
        self.next.insert(block);
        let changes = self.count >= depth;
        if changes {
            std::mem::swap(&mut self.asked, &mut self.next);
            self.next.clear();
            self.count = 0;
        }
        changes
    }
}
