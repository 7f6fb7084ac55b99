//! Parameters and counters of a memory-side cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::{Cited, statistics};

use crate::doors::HOST_ITEM_BYTES;
use crate::parameters::ParameterError;
use crate::policy::Chosen;
use crate::replacement::ReplacementPolicy;
use crate::tags::{Geometry, MAX_FRAMES, SetIndex};

/// The parameters of a memory-side cache: a level between each slice of the last-level cache and its DRAM channel. Its
/// lines have 128 bytes, with valid and dirty bytes of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryCacheConfig {
    /// Sets of the cache behind one slice; times `ways`, its lines.
    #[schemars(range(min = 1, max = MAX_FRAMES), extend("unit" = "sets"))]
    pub sets: Cited<usize>,
    /// Ways of each set: lines with the same index that it holds at a time.
    #[schemars(range(min = 1, max = 64), extend("unit" = "ways"))]
    pub ways: Cited<usize>,
    /// How the set of a line is computed.
    pub set_index: Cited<SetIndex>,
    /// Which way of a full set is evicted.
    pub replacement: Cited<Chosen<dyn ReplacementPolicy>>,
    /// L2 cycles from a request to its look-up, which is also when a hit is answered.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub latency_cycles: Cited<u64>,
    /// Requests that wait for their look-up.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "requests"))]
    pub queue: Cited<usize>,
    /// Number of lines that can be fetched at a time.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "lines"))]
    pub mshr_entries: Cited<usize>,
    /// Requests that one fetch can serve.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "requests"))]
    pub mshr_merges: Cited<u16>,
}

impl MemoryCacheConfig {
    /// Checks that the cache can be built.
    ///
    /// # Errors
    /// Names the first wrong field.
    pub fn check(&self) -> Result<(), ParameterError> {
        self.geometry().check()?;
        let bounds = [
            ("latency_cycles", *self.latency_cycles),
            ("queue", *self.queue as u64),
            ("mshr_entries", *self.mshr_entries as u64),
            ("mshr_merges", u64::from(*self.mshr_merges)),
        ];
        for (field, value) in bounds {
            if !(1..=4096).contains(&value) {
                return Err(ParameterError::new(field, format!("must be 1 to 4096, found {value}")));
            }
        }
        Ok(())
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

    /// Upper bound of the host memory that one instance takes, in bytes. Call it after [`MemoryCacheConfig::check`].
    pub fn host_bytes(&self) -> u64 {
        let lines = (*self.sets * *self.ways) as u64;
        let requests = *self.queue as u64 + *self.mshr_entries as u64 * (2 + u64::from(*self.mshr_merges));
        (lines + requests).saturating_mul(HOST_ITEM_BYTES)
    }
}

statistics! {
    /// Counters of memory-side caches.
    pub struct MemoryCacheStatistics: "memory_cache" {
        /// Requests that were looked up.
        accesses: "requests",
        /// Requests that read.
        reads: "requests",
        /// Requests that write.
        writes: "requests",
        /// Reads that found all their bytes.
        hits: "requests",
        /// Reads that began a fetch.
        misses: "requests",
        /// Requests that waited for a fetch of their line.
        merges: "requests",
        /// Cycles in which the next request could not be looked up: no MSHR, merge or way was free, or too many requests
        /// waited for DRAM.
        stall_cycles: "L2 cycles",
        /// Requests refused because the queue was full.
        refused: "refusals",
        /// Lines evicted to make room for others.
        evictions: "lines",
        /// Lines whose dirty bytes were written to DRAM.
        write_backs: "lines",
        /// Fetches that came from DRAM.
        fills: "lines" [energy],
        /// Reads of a line's bytes: answers and write-backs.
        data_reads: "lines" [energy],
        /// Writes into a line's bytes by requests.
        data_writes: "lines" [energy],
        /// Probes of a set's tags.
        tag_reads: "probes" [energy],
    }
    laws {
        "accesses = reads + writes": |s| s.accesses == s.reads + s.writes,
        "fills = misses": |s| s.fills == s.misses,
        "write_backs <= evictions": |s| s.write_backs <= s.evictions,
    }
}
