//! What every L1D must keep, whatever its organisation.
//!
//! Random accesses run against a flat memory behind links of random delay. One oracle line per memory line
//! is written when a store is accepted; a load must bring what the oracle held when it was accepted, which is
//! the door's order. Several L1Ds may share the memory: within an episode each byte is written by one of
//! them only, but lines are shared (false sharing), and between episodes all are flushed and invalidated.
//!
//! Checked: values; that no access is lost, answered twice or answered as another; that packets name the
//! right nodes; progress under back-pressure; memory equal to the oracle after every flush, byte for byte;
//! `next_event` never later than the truth (`skip`); statistics laws; nothing outstanding at the end.

mod llc;
mod memory;
#[cfg(test)]
mod planted;
mod traffic;
mod world;

pub use llc::{check_llc, check_llc_with_skips};
use strata_engine::statistics::Group;
use strata_memory::doors::L1d;
use strata_memory::{NodeId, SliceMap};

/// Makes the L1D of a network node; it sends each line to the slice that the map names.
pub type Make<'a> = dyn FnMut(NodeId, SliceMap) -> Box<dyn L1d> + 'a;

/// What a check runs.
#[derive(Clone, Copy, Debug)]
pub struct Contract {
    /// Seed of everything random.
    pub seed: u64,
    /// L1Ds that share the memory.
    pub l1ds: usize,
    /// Slices of the memory; requests to different slices overtake each other.
    pub slices: u16,
    /// Lines of memory in use.
    pub lines: u64,
    /// Episodes, each of which ends with a flush of all.
    pub episodes: u32,
    /// Accesses of each L1D in an episode.
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
    /// A hash of every completion, its cycle and bytes.
    pub hash: u64,
    /// The statistics of each L1D.
    pub statistics: Vec<Vec<Group>>,
}

/// Runs a check.
///
/// # Errors
/// A sentence about the first thing that broke the contract.
pub fn check(contract: &Contract, make: &mut Make<'_>) -> Result<Outcome, String> {
    world::World::new(*contract, make).run()
}

/// Runs a check twice, ticking every cycle and skipping idle ones, and compares.
///
/// # Errors
/// A sentence about the first thing that broke the contract.
pub fn check_with_skips(contract: &Contract, make: &mut Make<'_>) -> Result<Outcome, String> {
    let ticked = check(&Contract { skip: false, ..*contract }, make)?;
    let skipped = check(&Contract { skip: true, ..*contract }, make)?;
    if ticked != skipped {
        let (a, b) = (ticked.cycles, skipped.cycles);
        return Err(format!("skipping idle cycles is not ticking them: {a} cycles ticked, {b} skipped"));
    }
    Ok(ticked)
}
