//! Parameters and counters of a read-only cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::{Cited, statistics};

use crate::parameters::ParameterError;
use crate::policy::Chosen;
use crate::replacement::ReplacementPolicy;
use crate::tags::{Geometry, MAX_FRAMES, SetIndex};

/// The parameters of a read-only cache. Lines have 128 bytes and are fetched whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadOnlyConfig {
    /// Sets of the cache; times `ways`, its lines.
    #[schemars(range(min = 1, max = MAX_FRAMES), extend("unit" = "sets"))]
    pub sets: Cited<usize>,
    /// Ways of each set: lines with the same index that it holds at a time.
    #[schemars(range(min = 1, max = 64), extend("unit" = "ways"))]
    pub ways: Cited<usize>,
    /// How the set of a line is computed.
    pub set_index: Cited<SetIndex>,
    /// Which way of a full set is evicted.
    pub replacement: Cited<Chosen<dyn ReplacementPolicy>>,
    /// Number of look-ups that can start in one cycle.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "look-ups"))]
    pub accesses_per_cycle: Cited<usize>,
    /// Cycles from a look-up that hits to the bytes.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub hit_latency_cycles: Cited<u64>,
    /// Number of lines that can be fetched at a time.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "lines"))]
    pub mshr_entries: Cited<usize>,
    /// Capacity of the queue to the network, in requests.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "requests"))]
    pub miss_queue: Cited<usize>,
    /// Lines that are fetched ahead of one that is used for the first time since it came, as a stream buffer does;
    /// none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 31), extend("unit" = "lines"))]
    pub prefetch_lines: Option<Cited<usize>>,
    /// Whether every look-up hits, as if all lines were always there. For an instruction cache, which needs no bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub perfect: Option<Cited<bool>>,
}

impl ReadOnlyConfig {
    /// Checks that the cache can be built.
    ///
    /// # Errors
    /// Names the first wrong field.
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
        if self.lines_ahead() > 31 {
            let found = format!("must be 0 to 31, found {}", self.lines_ahead());
            return Err(ParameterError::new("prefetch_lines", found));
        }
        Ok(())
    }

    /// Lines that are fetched ahead.
    pub fn lines_ahead(&self) -> usize {
        self.prefetch_lines.as_ref().map_or(0, |lines| **lines)
    }

    /// Whether every look-up hits.
    pub fn is_perfect(&self) -> bool {
        self.perfect.as_ref().is_some_and(|perfect| **perfect)
    }

    /// The shape and policies of the tag array.
    pub fn geometry(&self) -> Geometry {
        Geometry {
            sets: *self.sets,
            ways: *self.ways,
            index: *self.set_index,
            replacement: self.replacement.value.clone(),
        }
    }
}

statistics! {
    /// Counters of a read-only cache.
    pub struct ReadOnlyStatistics: "read_only_cache" {
        /// Look-ups that were accepted.
        accesses: "accesses" [energy],
        /// Look-ups that found their line.
        hits: "accesses",
        /// Look-ups that requested their line from the network.
        misses: "accesses",
        /// Look-ups that found their line already being fetched.
        merges: "accesses",
        /// Lines requested ahead of their first look-up.
        prefetches: "lines",
        /// Look-ups that were the first of a line that had been requested ahead: hits, and merges where it was late.
        prefetches_used: "accesses",
        /// Refusals because the port had already been used in the cycle.
        refused_port: "refusals",
        /// Refusals because no MSHR was free, or because the line was still being fetched from before an
        /// invalidation.
        refused_mshr: "refusals",
        /// Refusals because every way of the set waited for a fill.
        refused_ways: "refusals",
        /// Refusals because the queue to the network was full.
        refused_network: "refusals",
        /// Lines evicted to make room for another.
        evictions: "lines",
        /// Replies that filled a line.
        fills: "lines" [energy],
        /// Invalidations of the whole cache.
        invalidations: "invalidations",
        /// Bytes of headers sent to the network.
        bytes_out: "bytes",
        /// Bytes of headers and payloads that came from the network.
        bytes_in: "bytes",
    }
    laws {
        "accesses = hits + misses + merges": |s| s.accesses == s.hits + s.misses + s.merges,
        "fills <= misses + prefetches": |s| s.fills <= s.misses + s.prefetches,
        "evictions <= misses + prefetches": |s| s.evictions <= s.misses + s.prefetches,
        "prefetches_used <= prefetches": |s| s.prefetches_used <= s.prefetches,
    }
}
