//! The parameters of a slice of DeNovo's L2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::replacement::ReplacementPolicy;
use strata_memory::tags::{Geometry, MAX_FRAMES, SetIndex};

/// The parameters of one slice, in cycles of its own clock. Lines have 128 bytes, words 4. The slice writes back and fetches whole lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DenovoL2Config {
    /// Sets of a slice; times `ways`, its lines.
    #[schemars(range(min = 1, max = MAX_FRAMES), extend("unit" = "sets"))]
    pub sets: Cited<usize>,
    /// Ways of each set: lines with the same index that it holds at a time.
    #[schemars(range(min = 1, max = 64), extend("unit" = "ways"))]
    pub ways: Cited<usize>,
    /// How the set of a line is computed from its number within the slice.
    pub set_index: Cited<SetIndex>,
    /// Which way of a full set is evicted.
    pub replacement: Cited<ReplacementPolicy>,
    /// Number of requests that can wait, beyond those within the ROP latency.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "requests"))]
    pub request_queue: Cited<usize>,
    /// Cycles from the arrival of a request to its look-up.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub rop_latency_cycles: Cited<u64>,
    /// Cycles from a look-up that hits, or from the turn of a request that waited, to the reply.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub hit_latency_cycles: Cited<u64>,
    /// Number of packets that can wait for the network, beyond those within the hit latency and those of one request.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "packets"))]
    pub reply_queue: Cited<usize>,
    /// Number of lines that can be fetched at a time (MSHRs).
    #[schemars(range(min = 1, max = 4096), extend("unit" = "lines"))]
    pub mshr_entries: Cited<usize>,
    /// Number of requests that one MSHR can hold, the first included.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "requests"))]
    pub mshr_merges: Cited<u16>,
    /// Capacity of the queue to the DRAM channel, in requests.
    #[schemars(range(min = 2, max = 4096), extend("unit" = "requests"))]
    pub dram_queue: Cited<usize>,
    /// Number of lines that can be in flight to DRAM.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "lines"))]
    pub write_buffer: Cited<usize>,
    /// Cycles that each operation of an atomic takes on one address; operations on different addresses of a
    /// line proceed in parallel.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub atomic_cycles: Cited<u64>,
}

impl DenovoL2Config {
    /// A 64 KB slice for tests and examples. Machines take their parameters from machine files instead.
    pub fn example() -> DenovoL2Config {
        fn assumed<T>(value: T) -> Cited<T> {
            Cited::new(value, "ASSUMED: an example")
        }
        DenovoL2Config {
            sets: assumed(64),
            ways: assumed(8),
            set_index: assumed(SetIndex::Bits),
            replacement: assumed(ReplacementPolicy::Lru),
            request_queue: assumed(8),
            rop_latency_cycles: assumed(4),
            hit_latency_cycles: assumed(10),
            reply_queue: assumed(8),
            mshr_entries: assumed(32),
            mshr_merges: assumed(8),
            dram_queue: assumed(16),
            write_buffer: assumed(32),
            atomic_cycles: assumed(1),
        }
    }

    /// The shape and policies of the tag array.
    pub fn geometry(&self) -> Geometry {
        Geometry {
            sets: *self.sets,
            ways: *self.ways,
            index: *self.set_index,
            replacement: *self.replacement,
        }
    }
}
