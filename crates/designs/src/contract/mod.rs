//! The contracts that every design must keep, with a harness for each door.
//!
//! | door | harness | what runs against an oracle |
//! |---|---|---|
//! | [`RegisterFile`](strata_memory::doors::RegisterFile) | [`register_file`] | instructions under a scoreboard |
//! | [`LanePath`](strata_memory::doors::LanePath) | [`lane_path`] | programs without races, false sharing everywhere |
//! | [`Scratchpad`](strata_memory::doors::Scratchpad) | [`scratchpad`] | CTAs without races that map and copy tiles |
//! | [`L1d`](strata_memory::doors::L1d) | [`l1d`] | accesses of several L1Ds that share a memory |
//! | [`Network`](strata_memory::doors::Network) | [`network`] | packets between nodes that sleep at times |
//! | [`Llc`](strata_memory::doors::Llc) | [`llc`] | requests of several sources to a slice |
//! | both, with [`Coherence::Owners`](strata_memory::doors::Coherence::Owners) | [`owners`] | accesses of L1Ds above slices that are their registry |
//!
//! Each harness has a `check`, which runs a design once, and a `check_with_skips`, which runs it twice,
//! ticking first every cycle and then only those that `next_event` names, and requires the same outcome. The
//! error describes the first violation in a sentence. Tests run every design in the
//! [`registry`](crate::registry) through the harness of its door, with the parameters of every machine file
//! and system in the project.

pub mod l1d;
pub mod lane_path;
pub mod llc;
mod memory;
pub mod network;
pub mod owners;
#[cfg(test)]
mod planted;
#[cfg(test)]
mod planted_owners;
pub mod register_file;
#[cfg(test)]
mod registered;
pub mod scratchpad;
mod traffic;
mod world;

use strata_engine::statistics::Group;

/// Cycles without progress after which a run counts as stuck.
const PATIENCE: u64 = 20_000;

/// The workload of a check of L1Ds or of an LLC slice.
#[derive(Clone, Copy, Debug)]
pub struct Contract {
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of L1Ds that share the memory; for a slice, the number of its sources.
    pub l1ds: usize,
    /// Number of slices of the memory. Requests to different slices can overtake each other.
    pub slices: u16,
    /// Number of memory lines in use.
    pub lines: u64,
    /// Number of episodes; each ends with a flush of all caches.
    pub episodes: u32,
    /// Number of accesses by each L1D or source in an episode.
    pub accesses: u32,
    /// Bytes of the aligned piece of a line in which an access lies.
    pub access_bytes: usize,
    /// Longest random delay of one direction of the network, in cycles.
    pub delay: u64,
    /// Percent of cycles in which the network takes a packet and a reader takes completions.
    pub willing: u64,
    /// Percent of accesses that are atomics; as many again ask to bypass the cache.
    pub special: u64,
    /// Hints of the program among the accesses of an L1D, and among the requests of a source, in percent.
    pub hints: u64,
    /// Capacities in bytes that each L1D gets by turns, after flushes that invalidate.
    pub capacities: Option<[u64; 2]>,
    /// Whether the host looks at a slice only when this is at rest, as after a launch; if not, as soon as all requests are answered.
    pub rests: bool,
    /// Whether only the cycles that `next_event` names are ticked.
    pub skip: bool,
}

impl Contract {
    /// One L1D with every kind of access, delays and back-pressure.
    pub fn alone(seed: u64) -> Contract {
        Contract {
            seed,
            l1ds: 1,
            slices: 3,
            lines: 48,
            episodes: 4,
            accesses: 1500,
            access_bytes: 128,
            delay: 40,
            willing: 70,
            special: 6,
            hints: 5,
            capacities: None,
            rests: false,
            skip: false,
        }
    }

    /// Most hints of an L1D or source in an episode.
    fn hints_an_episode(&self) -> u32 {
        (u64::from(self.accesses) * self.hints / 100) as u32
    }

    /// Three L1Ds that share every line.
    pub fn shared(seed: u64) -> Contract {
        Contract { l1ds: 3, lines: 24, accesses: 600, ..Contract::alone(seed) }
    }
}

/// The outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Number of simulated cycles.
    pub cycles: u64,
    /// Hash of all that the design put out, with the cycles.
    pub hash: u64,
    /// The counters of each instance.
    pub statistics: Vec<Vec<Group>>,
}

/// Runs a check without and with skips, and compares the outcomes.
fn with_skips(mut run: impl FnMut(bool) -> Result<Outcome, String>) -> Result<Outcome, String> {
    let (ticked, skipped) = (run(false)?, run(true)?);
    if ticked != skipped {
        let (a, b) = (ticked.cycles, skipped.cycles);
        return Err(format!("skipping idle cycles is not ticking them: {a} cycles ticked, {b} skipped"));
    }
    Ok(ticked)
}

/// Checks that every law of the statistics holds.
fn lawful<'a>(groups: impl IntoIterator<Item = &'a Group>) -> Result<(), String> {
    groups.into_iter().try_for_each(|group| match group.broken {
        Some(law) => Err(format!("{}: a law does not hold: {law}", group.name)),
        None => Ok(()),
    })
}
