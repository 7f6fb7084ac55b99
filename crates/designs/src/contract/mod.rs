//! What every design must keep, whatever its organisation: a harness for each door.
//!
//! | door | harness | what runs against an oracle |
//! |---|---|---|
//! | [`RegisterFile`](strata_memory::doors::RegisterFile) | [`register_file`] | instructions under a scoreboard |
//! | [`L1d`](strata_memory::doors::L1d) | [`l1d`] | accesses of several L1Ds that share a memory |
//! | [`Network`](strata_memory::doors::Network) | [`network`] | packets between nodes that sleep at times |
//! | [`Llc`](strata_memory::doors::Llc) | [`llc`] | requests of several sources to a slice |
//!
//! Each has a `check`, which runs a design once, and a `check_with_skips`, which runs it ticking every cycle and
//! then only those that `next_event` names, and wants the same of both. The error is a sentence about the first
//! thing that broke the contract. Every design that the [`registry`](crate::registry) names is run through the
//! harness of its door, with the numbers of every machine file and system that comes with the program.

pub mod l1d;
pub mod llc;
mod memory;
pub mod network;
#[cfg(test)]
mod planted;
pub mod register_file;
#[cfg(test)]
mod registered;
mod traffic;
mod world;

use strata_engine::statistics::Group;

/// Cycles without any movement after which nothing will move any more.
const PATIENCE: u64 = 20_000;

/// What a check of a cache runs: an L1D's or an LLC slice's.
#[derive(Clone, Copy, Debug)]
pub struct Contract {
    /// Seed of everything random.
    pub seed: u64,
    /// L1Ds that share the memory; for a slice, its sources.
    pub l1ds: usize,
    /// Slices of the memory; requests to different slices overtake each other.
    pub slices: u16,
    /// Lines of memory in use.
    pub lines: u64,
    /// Episodes, each of which ends with a flush of all.
    pub episodes: u32,
    /// Accesses of each L1D or source in an episode.
    pub accesses: u32,
    /// Longest random delay of one direction of the network, in cycles.
    pub delay: u64,
    /// Percent of cycles in which the network takes a packet and a reader takes completions.
    pub willing: u64,
    /// Percent of accesses that are atomics, and again that many that ask to bypass.
    pub special: u64,
    /// Ticks only the cycles that `next_event` names.
    pub skip: bool,
}

impl Contract {
    /// One L1D under everything at once.
    pub fn alone(seed: u64) -> Contract {
        Contract {
            seed,
            l1ds: 1,
            slices: 3,
            lines: 48,
            episodes: 4,
            accesses: 1500,
            delay: 40,
            willing: 70,
            special: 6,
            skip: false,
        }
    }

    /// Three L1Ds that share every line.
    pub fn shared(seed: u64) -> Contract {
        Contract { l1ds: 3, lines: 24, accesses: 600, ..Contract::alone(seed) }
    }
}

/// What a check saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Cycles it took.
    pub cycles: u64,
    /// A hash of everything that came out, with its cycle.
    pub hash: u64,
    /// The statistics of each instance.
    pub statistics: Vec<Vec<Group>>,
}

/// Runs a check without and with skips, and compares.
fn with_skips(mut run: impl FnMut(bool) -> Result<Outcome, String>) -> Result<Outcome, String> {
    let (ticked, skipped) = (run(false)?, run(true)?);
    if ticked != skipped {
        let (a, b) = (ticked.cycles, skipped.cycles);
        return Err(format!("skipping idle cycles is not ticking them: {a} cycles ticked, {b} skipped"));
    }
    Ok(ticked)
}

/// Finds a law of the statistics that does not hold.
fn lawful<'a>(groups: impl IntoIterator<Item = &'a Group>) -> Result<(), String> {
    groups.into_iter().try_for_each(|group| match group.broken {
        Some(law) => Err(format!("{}: a law does not hold: {law}", group.name)),
        None => Ok(()),
    })
}
