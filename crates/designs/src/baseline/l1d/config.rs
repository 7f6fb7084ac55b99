//! What an SRAM L1D is made of.

use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::replacement::ReplacementPolicy;
use strata_memory::tags::{Geometry, SetIndex};

use crate::chassis::{Parameters, Rooms, WriteMissPolicy};

/// When written bytes go below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// When the line is evicted or flushed.
    WriteBack,
    /// At once.
    WriteThrough,
}

/// When a line that misses is given a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocate {
    /// When its fetch is sent: the way is empty until the fill.
    OnMiss,
    /// When its fetch is done: what was in the way is there until then.
    OnFill,
}

/// The parameters of an SRAM L1D. Lines have 128 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SramL1dConfig {
    /// Number of sets.
    pub sets: Cited<usize>,
    /// Ways of a set, 1 to 64.
    pub ways: Cited<usize>,
    /// How a line finds its set.
    pub set_index: Cited<SetIndex>,
    /// Which way makes room.
    pub replacement: Cited<ReplacementPolicy>,
    /// When a line that misses is given a way: `on-miss` or `on-fill`.
    pub allocate: Cited<Allocate>,
    /// Unit of a fetch in bytes: 128 is a cache without sectors.
    pub sector_bytes: Cited<usize>,
    /// Accesses that can start in one cycle.
    pub accesses_per_cycle: Cited<usize>,
    /// Banks, 1 to 64; lines go round over them, and each starts one access a cycle.
    pub banks: Cited<usize>,
    /// Cycles from an access to its completion when it hits.
    pub hit_latency_cycles: Cited<u64>,
    /// Cycles from an access to the cycle in which its miss can leave for the network.
    pub tag_latency_cycles: Cited<u64>,
    /// Cycles from a fill, or from a bypassing access's reply, to the completion of an access it serves.
    pub fill_latency_cycles: Cited<u64>,
    /// Number of MSHRs.
    pub mshr_entries: Cited<usize>,
    /// Accesses that one MSHR holds, the first included.
    pub mshr_merges: Cited<u16>,
    /// Packets that wait for the network.
    pub miss_queue: Cited<usize>,
    /// Writes that may be without acknowledgement.
    pub write_buffer: Cited<usize>,
    /// Atomics and bypassing loads that may be under way.
    pub bypass_entries: Cited<usize>,
    /// When written bytes go below.
    pub write_policy: Cited<WritePolicy>,
    /// What a store does whose line is not here.
    pub write_miss_policy: Cited<WriteMissPolicy>,
    /// Whether accesses that ask for it go past the cache. Atomics always do.
    pub honours_bypass: Cited<bool>,
}

impl SramL1dConfig {
    /// A cache to build on in tests and examples: 16 KB, with the peers' published numbers. No machine reads it:
    /// a machine's numbers stand in its file.
    pub fn example() -> SramL1dConfig {
        const TABLE: &str = "GPGPU-Sim, configs/tested-cfgs/SM2_GTX480";
        fn table<T>(value: T) -> Cited<T> {
            Cited::new(value, TABLE)
        }
        fn assumed<T>(value: T, why: &str) -> Cited<T> {
            Cited::new(value, format!("ASSUMED: {why}"))
        }
        SramL1dConfig {
            sets: table(32),
            ways: table(4),
            set_index: assumed(SetIndex::Bits, "the plain choice"),
            replacement: table(ReplacementPolicy::Lru),
            allocate: table(Allocate::OnMiss),
            sector_bytes: table(128),
            accesses_per_cycle: assumed(1, "one coalesced access a cycle"),
            banks: assumed(1, "one port"),
            hit_latency_cycles: table(35),
            tag_latency_cycles: assumed(1, "the tags are read in the cycle before"),
            fill_latency_cycles: assumed(1, "waiting accesses are served on the way into the array"),
            mshr_entries: table(64),
            mshr_merges: table(8),
            miss_queue: table(8),
            write_buffer: assumed(128, "covers the round trip of a write under load"),
            bypass_entries: assumed(32, "a warp's worth of atomics to different lines"),
            write_policy: assumed(
                WritePolicy::WriteBack,
                "as the published organisations compare themselves with",
            ),
            write_miss_policy: assumed(WriteMissPolicy::Validate, "byte masks make a fetch needless"),
            honours_bypass: assumed(true, "as the instruction set asks"),
        }
    }

    pub(super) fn parameters(&self) -> Parameters {
        Parameters {
            sector_bytes: *self.sector_bytes,
            accesses_per_cycle: (*self.accesses_per_cycle).try_into().unwrap_or(u32::MAX),
            banks: *self.banks as u64,
            hit_latency: *self.hit_latency_cycles,
            tag_latency: *self.tag_latency_cycles,
            fill_latency: *self.fill_latency_cycles,
            miss_queue: *self.miss_queue,
            write_back: *self.write_policy == WritePolicy::WriteBack,
            miss_policy: *self.write_miss_policy,
            honours_bypass: *self.honours_bypass,
        }
    }

    pub(super) fn rooms(&self) -> Rooms {
        Rooms {
            mshr_entries: *self.mshr_entries,
            mshr_merges: *self.mshr_merges,
            write_buffer: *self.write_buffer,
            bypass_entries: *self.bypass_entries,
            // Two cycles more than the latency, for a reader who comes late once.
            hits: (*self.hit_latency_cycles as usize)
                .saturating_add(2)
                .saturating_mul(*self.accesses_per_cycle),
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
