//! The parameters of a DeNovo L1D.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::policy::Chosen;
use strata_memory::replacement::{self, ReplacementPolicy};
use strata_memory::tags::{Geometry, MAX_FRAMES, SetIndex};

/// The parameters of a DeNovo L1D. Words have 4 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DenovoL1dConfig {
    /// Bytes of a line of the cache, 64 or 128. All of an access lies in one, and what a miss brings along.
    #[schemars(range(min = 64, max = 128), extend("unit" = "B"))]
    pub line_bytes: Cited<u32>,
    /// Sets of the cache; times `ways`, its lines.
    #[schemars(range(min = 1, max = MAX_FRAMES), extend("unit" = "sets"))]
    pub sets: Cited<usize>,
    /// Ways of each set: lines with the same index that it holds at a time.
    #[schemars(range(min = 1, max = 64), extend("unit" = "ways"))]
    pub ways: Cited<usize>,
    /// Banks, a power of two; a line's is the last bits of its number. In a cycle each takes an access, a packet that has
    /// arrived, and an access that has waited.
    #[schemars(range(min = 1, max = 64), extend("unit" = "banks"))]
    pub banks: Cited<u32>,
    /// How the set of a line is computed.
    pub set_index: Cited<SetIndex>,
    /// Which way of a full set is evicted.
    pub replacement: Cited<Chosen<dyn ReplacementPolicy>>,
    /// Cycles from the start of an access that hits to its completion.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub hit_latency_cycles: Cited<u64>,
    /// Cycles from the start of an access until its request can leave for the network.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub tag_latency_cycles: Cited<u64>,
    /// Cycles from a reply to the completion of an access that waited for it.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub fill_latency_cycles: Cited<u64>,
    /// Cycles from taking up another's request to the answer.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub remote_latency_cycles: Cited<u64>,
    /// Number of lines that can have reads or registrations under way at a time (MSHRs).
    #[schemars(range(min = 1, max = 4096), extend("unit" = "lines"))]
    pub mshr_entries: Cited<usize>,
    /// Number of accesses that can wait in one MSHR.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "accesses"))]
    pub mshr_merges: Cited<u16>,
    /// Capacity of the queue of requests to the network, in packets.
    #[schemars(range(min = 2, max = 4096), extend("unit" = "packets"))]
    pub miss_queue: Cited<usize>,
    /// Capacity of the queue of answers and writebacks to the network of owners, in packets: at least one for each line in 128
    /// bytes.
    #[schemars(range(max = 4096), extend("unit" = "packets", "minimum" = null))]
    pub answer_queue: Cited<usize>,
    /// Number of writebacks, and as many stores past the cache, that can be unacknowledged at a time.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "writebacks"))]
    pub write_buffer: Cited<usize>,
    /// Number of atomics and bypassing loads that can be in flight at a time.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "accesses"))]
    pub bypass_entries: Cited<usize>,
    /// Lines whose registrations can wait for others of their line at a time.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "lines"))]
    pub combined_lines: Cited<usize>,
    /// Cycles for which a registration waits for others of its line at most.
    #[schemars(range(min = 0, max = 1000000), extend("unit" = "cycles"))]
    pub combine_cycles: Cited<u64>,
}

impl DenovoL1dConfig {
    /// A 32 KB cache for tests and examples. Machines take their parameters from machine files instead.
    pub fn example() -> DenovoL1dConfig {
        fn assumed<T>(value: T) -> Cited<T> {
            Cited::new(value, "ASSUMED: an example")
        }
        DenovoL1dConfig {
            line_bytes: assumed(128),
            sets: Cited::new(32, "Stash Table 2"),
            ways: Cited::new(8, "Stash Table 2"),
            banks: Cited::new(8, "Stash Table 2"),
            set_index: assumed(SetIndex::Bits),
            replacement: assumed(replacement::lru()),
            hit_latency_cycles: Cited::new(1, "Stash Table 2"),
            tag_latency_cycles: assumed(1),
            fill_latency_cycles: assumed(1),
            remote_latency_cycles: assumed(2),
            mshr_entries: assumed(32),
            mshr_merges: assumed(8),
            miss_queue: assumed(8),
            answer_queue: assumed(8),
            write_buffer: assumed(16),
            bypass_entries: assumed(32),
            combined_lines: assumed(16),
            combine_cycles: assumed(0),
        }
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
