//! What a slice of the L2 is made of.

use serde::{Deserialize, Serialize};
use strata_engine::Cited;

use strata_memory::replacement::ReplacementPolicy;
use strata_memory::tags::{Geometry, SetIndex};

/// The parameters of one L2 slice. Lines have 128 bytes. It writes back and allocates on writes without
/// fetching: a mask tells which bytes of a line are valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L2Config {
    /// Number of sets of a slice.
    pub sets: Cited<usize>,
    /// Ways of a set, 1 to 64.
    pub ways: Cited<usize>,
    /// How a line finds its set. Lines are numbered within the slice for this.
    pub set_index: Cited<SetIndex>,
    /// Which way makes room.
    pub replacement: Cited<ReplacementPolicy>,
    /// Unit of a fetch from DRAM in bytes.
    pub sector_bytes: Cited<usize>,
    /// Requests that can wait, beside those within the ROP latency.
    pub request_queue: Cited<usize>,
    /// Cycles from the arrival of a request to its look-up.
    pub rop_latency_cycles: Cited<u64>,
    /// Cycles from a look-up that hits, or the turn of a request that waited, to its reply.
    pub hit_latency_cycles: Cited<u64>,
    /// Replies that can wait for the network, beside those within the hit latency.
    pub reply_queue: Cited<usize>,
    /// Number of MSHRs.
    pub mshr_entries: Cited<usize>,
    /// Requests that one MSHR holds, the first included.
    pub mshr_merges: Cited<u16>,
    /// Requests that wait for the DRAM channel.
    pub dram_queue: Cited<usize>,
    /// Lines on their way to DRAM.
    pub write_buffer: Cited<usize>,
    /// Cycles for each of the operations of an atomic on the same address; different addresses of a line
    /// are worked on at once.
    pub atomic_cycles: Cited<u64>,
}

impl L2Config {
    /// A slice to build on in tests and examples: 64 KB, with the peers' published numbers. No machine reads it: a
    /// machine's numbers stand in its file.
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
