//! The parameters of an L2 slice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;

use strata_memory::LINE_BYTES;
use strata_memory::replacement::ReplacementPolicy;
use strata_memory::tags::{Geometry, MAX_FRAMES, SetIndex};

/// The parameters of one L2 slice, in cycles of its own clock. Lines have 128 bytes. The slice writes back, and allocates on writes
/// without fetching: a mask records which bytes of a line are valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct L2Config {
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
    /// Unit of a fetch from DRAM in bytes.
    #[schemars(range(min = 4, max = LINE_BYTES), extend("unit" = "B"))]
    pub sector_bytes: Cited<usize>,
    /// Number of requests that can wait, beyond those within the ROP latency.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "requests"))]
    pub request_queue: Cited<usize>,
    /// Cycles from the arrival of a request to its look-up.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub rop_latency_cycles: Cited<u64>,
    /// Cycles from a look-up that hits, or from the turn of a request that waited, to the reply.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub hit_latency_cycles: Cited<u64>,
    /// Number of replies that can wait for the network, beyond those within the hit latency.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "replies"))]
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

impl L2Config {
    /// A 64 KB slice with the published parameters of other simulators, for tests and examples. Machines take
    /// their parameters from machine files instead.
    pub fn example() -> L2Config {
        fn table<T>(value: T) -> Cited<T> {
            Cited::new(value, "GPGPU-Sim, configs/tested-cfgs/SM2_GTX480")
        }
        fn assumed<T>(value: T, why: &str) -> Cited<T> {
            Cited::new(value, format!("ASSUMED: {why}"))
        }
        L2Config {
            sets: table(64),
            ways: table(8),
            set_index: assumed(SetIndex::Bits, "the plain choice"),
            replacement: table(ReplacementPolicy::Lru),
            sector_bytes: assumed(32, "one DRAM atom"),
            request_queue: assumed(8, "as deep as a network buffer"),
            rop_latency_cycles: table(120),
            hit_latency_cycles: assumed(10, "SRAM of 64 KB, tags and data one after the other"),
            reply_queue: assumed(8, "as deep as a network buffer"),
            mshr_entries: table(256),
            mshr_merges: table(4),
            dram_queue: assumed(16, "enough to keep the channel's own queue full"),
            write_buffer: assumed(32, "enough for writes that wait in the channel"),
            atomic_cycles: assumed(1, "one operation a cycle on one address"),
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
