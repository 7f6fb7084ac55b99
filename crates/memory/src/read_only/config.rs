//! What a read-only cache is made of, and what it counts.

use serde::{Deserialize, Serialize};
use strata_engine::{Cited, statistics};

use crate::parameters::ParameterError;
use crate::replacement::ReplacementPolicy;
use crate::tags::{Geometry, SetIndex};

/// The parameters of a read-only cache. Lines have 128 bytes and are fetched whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadOnlyConfig {
    /// Number of sets.
    pub sets: Cited<usize>,
    /// Ways of a set, 1 to 64.
    pub ways: Cited<usize>,
    /// How a line finds its set.
    pub set_index: Cited<SetIndex>,
    /// Which way makes room.
    pub replacement: Cited<ReplacementPolicy>,
    /// Look-ups that can start in one cycle.
    pub accesses_per_cycle: Cited<usize>,
    /// Cycles from a look-up that hits to the bytes.
    pub hit_latency_cycles: Cited<u64>,
    /// Lines that can be under way.
    pub mshr_entries: Cited<usize>,
    /// Requests that wait for the network.
    pub miss_queue: Cited<usize>,
}

impl ReadOnlyConfig {
    /// Finds what cannot be built.
    ///
    /// # Errors
    /// The first field that is wrong.
    pub fn check(&self) -> Result<(), ParameterError> {
        self.geometry().check()?;
        let bounds = [
            ("accesses_per_cycle", *self.accesses_per_cycle as u64),
            ("hit_latency_cycles", *self.hit_latency_cycles),
            ("mshr_entries", *self.mshr_entries as u64),
            ("miss_queue", *self.miss_queue as u64),
        ];
        for (field, value) in bounds {
            if !(1..=4096).contains(&value) {
                return Err(ParameterError::new(field, format!("must be 1 to 4096, found {value}")));
            }
        }
        Ok(())
    }

    /// Sets and ways.
    pub fn geometry(&self) -> Geometry {
        Geometry {
            sets: *self.sets,
            ways: *self.ways,
            index: *self.set_index,
            replacement: *self.replacement,
        }
    }
}

statistics! {
    /// What a read-only cache did.
    pub struct ReadOnlyStatistics: "read_only_cache" {
        /// Look-ups taken.
        accesses: "accesses" [energy],
        /// Look-ups that found their line.
        hits: "accesses",
        /// Look-ups that sent for their line.
        misses: "accesses",
        /// Look-ups that found their line on its way.
        merges: "accesses",
        /// Refusals because the port was used.
        refused_port: "refusals",
        /// Refusals because no MSHR was free, or a fetch from before an invalidation was under way.
        refused_mshr: "refusals",
        /// Refusals because every way of the set waited for a fill.
        refused_ways: "refusals",
        /// Refusals because the queue to the network was full.
        refused_network: "refusals",
        /// Lines that made room for another.
        evictions: "lines",
        /// Replies taken.
        fills: "lines" [energy],
        /// Times that everything was dropped.
        invalidations: "invalidations",
        /// Bytes of headers sent to the network.
        bytes_out: "bytes",
        /// Bytes of headers and payloads that came from the network.
        bytes_in: "bytes",
    }
    laws {
        "accesses = hits + misses + merges": |s| s.accesses == s.hits + s.misses + s.merges,
        "fills <= misses": |s| s.fills <= s.misses,
        "evictions <= misses": |s| s.evictions <= s.misses,
    }
}
