//! Replacement: which way of a full set is evicted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::seed::Stream;

use crate::bits::members;

/// How the way to evict is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReplacementPolicy {
    /// Evicts the least recently used way.
    Lru,
    /// Evicts the way filled longest ago.
    Fifo,
    /// Evicts a way drawn from the component's random stream.
    Random,
    /// Evicts by a binary tree of bits that point away from recent uses. The number of ways must be a power
    /// of two.
    TreePlru,
}

/// Low bits of a stamp, which hold its way: the least stamp names the victim.
const WAY_BITS: u32 = 6;
const WAY: u64 = (1 << WAY_BITS) - 1;

/// The replacement state of all sets of one tag array.
#[derive(Clone, Debug)]
pub struct Replacement {
    ways: usize,
    /// Whether a use of a frame counts, as its filling does.
    on_use: bool,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// LRU and FIFO: when each frame was used or filled last, above its way.
    Stamped {
        stamps: Vec<u64>,
        clock: u64,
    },
    Random(Stream),
    /// Per set a tree in heap order: bit n is node n, the root is node 1; a bit set points to the upper half.
    Tree(Vec<u64>),
}

impl Replacement {
    /// Makes the state of `sets` sets with `ways` ways (1 to 64) each. Only [`ReplacementPolicy::Random`]
    /// draws from `stream`.
    ///
    /// # Panics
    /// Panics if the policy does not support this number of ways. Configurations are checked before.
    pub fn new(policy: ReplacementPolicy, sets: usize, ways: usize, stream: Stream) -> Replacement {
        assert!((1..=64).contains(&ways), "a set has 1 to 64 ways");
        let state = match policy {
            ReplacementPolicy::Lru | ReplacementPolicy::Fifo => {
                let stamps = (0..sets * ways).map(|frame| (frame % ways) as u64).collect();
                State::Stamped { stamps, clock: 0 }
            }
            ReplacementPolicy::Random => State::Random(stream),
            ReplacementPolicy::TreePlru => {
                assert!(ways.is_power_of_two(), "a tree of bits needs a power of two of ways");
                State::Tree(vec![0; sets])
            }
        };
        Replacement { ways, on_use: policy != ReplacementPolicy::Fifo, state }
    }

    /// Notes a use of a frame, which is its set's number times the ways, plus its way.
    #[inline]
    pub fn used(&mut self, frame: usize) {
        if self.on_use {
            self.filled(frame);
        }
    }

    /// Notes that a frame was filled with another line.
    #[inline]
    pub fn filled(&mut self, frame: usize) {
        match &mut self.state {
            State::Stamped { stamps, clock } => {
                *clock += 1;
                stamps[frame] = *clock << WAY_BITS | stamps[frame] & WAY;
            }
            State::Tree(trees) => {
                let tree = &mut trees[frame / self.ways];
                *tree = point_away(*tree, self.ways, frame % self.ways);
            }
            State::Random(_) => {}
        }
    }

    /// The way to evict, among those whose bit is set in `eligible`.
    ///
    /// # Panics
    /// Panics if no way is eligible.
    #[inline]
    pub fn victim(&mut self, set: usize, eligible: u64) -> usize {
        assert!(eligible != 0, "a victim is chosen among some ways");
        match &mut self.state {
            State::Stamped { stamps, .. } => {
                let stamps = &stamps[set * self.ways..][..self.ways];
                let oldest = if eligible == u64::MAX >> (64 - self.ways) {
                    stamps.iter().copied().min()
                } else {
                    members(eligible).map(|way| stamps[way]).min()
                };
                (oldest.expect("some way is eligible") & WAY) as usize
            }
            State::Random(stream) => {
                let mut left = eligible;
                for _ in 0..stream.below(u64::from(eligible.count_ones())) {
                    left &= left - 1;
                }
                left.trailing_zeros() as usize
            }
            State::Tree(trees) => descend(trees[set], self.ways, eligible),
        }
    }
}

/// Makes every node above `way` point to the half without it.
fn point_away(mut tree: u64, ways: usize, way: usize) -> u64 {
    let mut node = ways + way;
    while node > 1 {
        let upper = node & 1;
        node >>= 1;
        tree = tree & !(1 << node) | ((upper as u64 ^ 1) << node);
    }
    tree
}

/// Follows the bits to a way, entering no half without an eligible way.
fn descend(tree: u64, ways: usize, eligible: u64) -> usize {
    let (mut node, mut first, mut width) = (1, 0, ways);
    while width > 1 {
        width /= 2;
        let half = ((1_u64 << width) - 1) << (first + width);
        let upper = match (eligible & half != 0, eligible & half >> width != 0) {
            (true, true) => tree >> node & 1 == 1,
            (upper, _) => upper,
        };
        node = 2 * node + usize::from(upper);
        first += width * usize::from(upper);
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replacement(policy: ReplacementPolicy, ways: usize) -> Replacement {
        Replacement::new(policy, 2, ways, Stream::new(1, "replacement"))
    }

    /// Fills ways 0..4 of set 1 in order, uses way 0 and then way 2.
    fn victims(policy: ReplacementPolicy, eligible: u64) -> usize {
        let mut state = replacement(policy, 4);
        (4..8).for_each(|frame| state.filled(frame));
        state.used(4);
        state.used(6);
        state.victim(1, eligible)
    }

    #[test]
    fn victims_of_each_policy() {
        use ReplacementPolicy::*;
        for (policy, eligible, expected) in [
            (Lru, 0b1111, 1),
            (Lru, 0b1101, 3),
            (Lru, 0b0101, 0),
            (Fifo, 0b1111, 0),
            (Fifo, 0b1100, 2),
            // After uses 0, 1, 2, 3, 0, 2 the root points down, and the lower half to way 1.
            (TreePlru, 0b1111, 1),
            (TreePlru, 0b1101, 0),
            (TreePlru, 0b1100, 3),
            (TreePlru, 0b0100, 2),
            (Random, 0b0100, 2),
        ] {
            assert_eq!(victims(policy, eligible), expected, "{policy:?} {eligible:#b}");
        }
    }

    #[test]
    fn random_victims_reach_every_eligible_way_and_no_other() {
        let mut state = replacement(ReplacementPolicy::Random, 8);
        let seen = (0..200).fold(0_u64, |seen, _| seen | 1 << state.victim(0, 0b1011_0010));
        assert_eq!(seen, 0b1011_0010);
    }

    #[test]
    fn the_tree_of_64_ways_never_evicts_the_last_use() {
        let mut state = replacement(ReplacementPolicy::TreePlru, 64);
        let mut way = 0;
        for _ in 0..500 {
            state.used(way);
            let victim = state.victim(0, u64::MAX);
            assert_ne!(victim, way);
            way = victim;
        }
    }
}
