//! Replacement: which way of a full set is evicted.
//!
//! A policy is a file that implements [`ReplacementPolicy`] and a line of the family.

mod drrip;
mod lru;
pub mod optimal;
mod random;
mod rrip;
mod ship;
#[cfg(test)]
mod tests;
mod tree_plru;

use std::fmt;
use std::sync::Arc;

use crate::insertion::{Insertion, InsertionStatistics};
use crate::policy::Chosen;
pub use crate::policy::Shape;
use crate::policy_family;
use crate::touch::{Touch, TouchKind};
use drrip::Drrip;
use lru::{Fifo, Lru, Stamps};
use random::{Random, RandomWay};
use rrip::{Brrip, Srrip};
use ship::Ship;
use tree_plru::{TreePlru, Trees};

/// The replacement state of all sets of one array of tags. Ways are numbered from 0 within each set.
pub trait Replacement: Send {
    /// Notes a use of a line that is here.
    fn used(&mut self, set: usize, way: usize, touch: &Touch);

    /// Notes that a way has been given to another line; the one before is gone.
    fn filled(&mut self, set: usize, way: usize, touch: &Touch);

    /// The way to evict, among those whose bit is set in `eligible`: never none, and never one that waits for a fill.
    /// The way is not evicted before it is filled, and may be asked for again.
    fn victim(&mut self, set: usize, eligible: u64) -> usize;
}

/// A replacement policy.
///
/// The type is also its section of a machine file: its documentation is its meaning, its fields are its numbers.
pub trait ReplacementPolicy: fmt::Debug + Send + Sync {
    /// Checks the numbers, and that the policy serves sets of this many ways.
    ///
    /// # Errors
    /// What was found and what was expected.
    fn check(&self, _ways: usize) -> Result<(), String> {
        Ok(())
    }

    /// Makes its state for sets that it serves.
    fn build(&self, shape: Shape) -> Box<dyn Replacement>;
}

policy_family! {
    ReplacementPolicy:
    "lru" => Lru,
    "fifo" => Fifo,
    "random" => Random,
    "tree-plru" => TreePlru,
    "srrip" => Srrip,
    "brrip" => Brrip,
    "drrip" => Drrip,
    "ship" => Ship,
}

/// The policy that evicts the least recently used way.
pub fn lru() -> Chosen<dyn ReplacementPolicy> {
    Chosen::of("lru", Arc::new(Lru {}))
}

/// The state of a policy for all frames of an array: frame n is way n % ways of set n / ways.
pub struct Victims {
    ways: usize,
    state: State,
}

/// The conventional policies by their own types, so that their calls are inlined.
enum State {
    Lru(Stamps),
    Fifo(Stamps),
    Random(RandomWay),
    Tree(Trees),
    Other(Box<dyn Replacement>),
    Guarded(Box<Guarded>),
}

/// Victims of a cache in which not every line takes a way.
struct Guarded {
    victims: Victims,
    insertion: Box<dyn Insertion>,
    statistics: InsertionStatistics,
}

impl Guarded {
    #[inline(never)]
    fn used(&mut self, frame: usize, touch: &Touch) {
        let ways = self.victims.ways;
        self.insertion.used(frame / ways, frame % ways, touch);
        self.victims.used(frame, touch);
    }

    #[inline(never)]
    fn filled(&mut self, frame: usize, touch: &Touch) {
        let ways = self.victims.ways;
        self.statistics.inserted += 1;
        self.insertion.filled(frame / ways, frame % ways, touch);
        self.victims.filled(frame, touch);
    }

    #[inline(never)]
    fn victim(&mut self, set: usize, eligible: u64) -> usize {
        self.victims.victim(set, eligible)
    }
}

impl Victims {
    /// Makes the state of a policy.
    ///
    /// # Panics
    /// Panics if [`ReplacementPolicy::check`] finds a fault.
    pub fn new(policy: &Chosen<dyn ReplacementPolicy>, shape: Shape) -> Victims {
        let ways = shape.ways;
        assert!((1..=64).contains(&ways), "a set has 1 to 64 ways");
        policy.check(ways).expect("a policy is checked before it is built");
        let state = match policy.name() {
            "lru" => State::Lru(Stamps::new(&shape)),
            "fifo" => State::Fifo(Stamps::new(&shape)),
            "random" => State::Random(RandomWay(shape.stream)),
            "tree-plru" => State::Tree(Trees::new(&shape)),
            _ => State::Other(policy.build(shape)),
        };
        Victims { ways, state }
    }

    /// Has a policy decide from now on which lines take a way.
    #[must_use]
    pub fn guarded(self, insertion: Box<dyn Insertion>) -> Victims {
        let ways = self.ways;
        let guarded = Guarded { victims: self, insertion, statistics: InsertionStatistics::default() };
        Victims { ways, state: State::Guarded(Box::new(guarded)) }
    }

    /// Whether the line of a request that misses takes a way.
    #[inline]
    pub fn keeps(&self, touch: &Touch) -> bool {
        match &self.state {
            State::Guarded(guarded) => touch.kind == TouchKind::Prefetch || guarded.insertion.keeps(touch),
            _ => true,
        }
    }

    /// Notes that a line of a set has passed.
    pub fn passed(&mut self, set: usize, touch: &Touch) {
        if let State::Guarded(guarded) = &mut self.state {
            guarded.insertion.passed(set, touch);
            guarded.statistics.passed += 1;
        }
    }

    /// The counters of the insertion policy, if there is one.
    pub fn insertion(&self) -> Option<&InsertionStatistics> {
        match &self.state {
            State::Guarded(guarded) => Some(&guarded.statistics),
            _ => None,
        }
    }

    /// Notes a use of a line that is here.
    #[inline]
    pub fn used(&mut self, frame: usize, touch: &Touch) {
        let ways = self.ways;
        match &mut self.state {
            State::Lru(stamps) => stamps.stamp(frame),
            State::Fifo(_) | State::Random(_) => {}
            State::Tree(trees) => trees.point_away(frame / ways, frame % ways),
            State::Other(policy) => policy.used(frame / ways, frame % ways, touch),
            State::Guarded(guarded) => guarded.used(frame, touch),
        }
    }

    /// As [`Victims::used`], of the frame of the last use, if none was filled since. To most policies that says nothing new.
    #[inline]
    pub fn used_again(&mut self, frame: usize, touch: impl FnOnce() -> Touch) {
        if let State::Other(_) | State::Guarded(_) = &self.state {
            self.used(frame, &touch());
        }
    }

    /// Notes that a frame has been given to another line.
    #[inline]
    pub fn filled(&mut self, frame: usize, touch: &Touch) {
        let ways = self.ways;
        match &mut self.state {
            State::Lru(stamps) | State::Fifo(stamps) => stamps.stamp(frame),
            State::Random(_) => {}
            State::Tree(trees) => trees.point_away(frame / ways, frame % ways),
            State::Other(policy) => policy.filled(frame / ways, frame % ways, touch),
            State::Guarded(guarded) => guarded.filled(frame, touch),
        }
    }

    /// The way of a set to evict, among those whose bit is set in `eligible`.
    ///
    /// # Panics
    /// Panics if no way is eligible, or if a policy chooses one that is not.
    #[inline]
    pub fn victim(&mut self, set: usize, eligible: u64) -> usize {
        assert!(eligible != 0, "a victim is chosen among some ways");
        match &mut self.state {
            State::Lru(stamps) | State::Fifo(stamps) => stamps.oldest(set, eligible),
            State::Random(random) => random.draw(eligible),
            State::Tree(trees) => trees.follow(set, eligible),
            State::Other(policy) => {
                let way = policy.victim(set, eligible);
                assert!(way < 64 && eligible >> way & 1 == 1, "a policy evicts an eligible way, not {way}");
                way
            }
            State::Guarded(guarded) => guarded.victim(set, eligible),
        }
    }
}
