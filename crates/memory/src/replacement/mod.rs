//! Replacement: which way of a full set is evicted.
//!
//! A policy is a file that implements [`Replacement`] and a line in [`POLICIES`].

mod drrip;
mod lru;
pub mod optimal;
mod random;
mod rrip;
mod ship;
#[cfg(test)]
mod tests;
mod tree_plru;

use strata_engine::seed::Stream;

use crate::cache::policy::{Entry, Kind, Policies, Policy};
use crate::touch::Touch;
use lru::Stamps;
use random::RandomWay;
use tree_plru::Trees;

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

/// The shape of the sets that a policy serves.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Number of sets.
    pub sets: usize,
    /// Ways of each, 1 to 64.
    pub ways: usize,
    /// Random numbers of the cache.
    pub stream: Stream,
}

/// Makes a policy's state, or says what it needs of the ways.
pub type Make = fn(Shape) -> Result<Box<dyn Replacement>, String>;

/// The kind of [`ReplacementPolicy`].
#[derive(Debug)]
pub struct Replacements;

impl Kind for Replacements {
    type Make = Make;
    const KEY: &'static str = "replacement";

    fn policies() -> &'static Policies<Make> {
        &POLICIES
    }
}

/// How the way to evict is chosen.
pub type ReplacementPolicy = Policy<Replacements>;

/// The policies that machine files can name.
pub static POLICIES: Policies<Make> = Policies::new(&BUILT_IN);

static BUILT_IN: [Entry<Make>; 8] = [
    lru::LRU,
    lru::FIFO,
    random::RANDOM,
    tree_plru::TREE_PLRU,
    rrip::SRRIP,
    rrip::BRRIP,
    drrip::DRRIP,
    ship::SHIP,
];

impl ReplacementPolicy {
    /// Evicts the least recently used way.
    pub const LRU: ReplacementPolicy = Policy::of(&lru::LRU);
    /// Evicts the way filled longest ago.
    pub const FIFO: ReplacementPolicy = Policy::of(&lru::FIFO);
    /// Evicts a way drawn from the component's random stream.
    pub const RANDOM: ReplacementPolicy = Policy::of(&random::RANDOM);
    /// Evicts by a binary tree of bits that point away from recent uses.
    pub const TREE_PLRU: ReplacementPolicy = Policy::of(&tree_plru::TREE_PLRU);

    /// Checks that the policy serves sets of this many ways.
    ///
    /// # Errors
    /// Says what it needs.
    pub fn check(self, ways: usize) -> Result<(), String> {
        (self.make())(Shape { sets: 1, ways, stream: Stream::new(0, "check") }).map(|_| ())
    }
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
}

impl Victims {
    /// Makes the state of a policy.
    ///
    /// # Panics
    /// Panics if [`ReplacementPolicy::check`] finds a fault.
    pub fn new(policy: ReplacementPolicy, shape: Shape) -> Victims {
        let ways = shape.ways;
        assert!((1..=64).contains(&ways), "a set has 1 to 64 ways");
        let state = match policy.name() {
            "lru" => State::Lru(Stamps::new(&shape)),
            "fifo" => State::Fifo(Stamps::new(&shape)),
            "random" => State::Random(RandomWay(shape.stream)),
            "tree-plru" if ways.is_power_of_two() => State::Tree(Trees::new(&shape)),
            _ => State::Other((policy.make())(shape).expect("a policy is checked before it is built")),
        };
        Victims { ways, state }
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
        }
    }
}
