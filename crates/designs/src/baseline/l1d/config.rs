//! The parameters of an SRAM L1D.

use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::replacement::ReplacementPolicy;
use strata_memory::tags::{Geometry, SetIndex};

use crate::chassis::{Parameters, Rooms, WriteMissPolicy};

/// When written bytes are sent to the level below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// Sends them when the line is evicted or flushed.
    WriteBack,
    /// Sends them with the store.
    WriteThrough,
}

/// When a line that misses takes a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocate {
    /// Takes the way when the fetch is sent; the way stays empty until the fill.
    OnMiss,
    /// Takes the way when the fetch is done; the previous line stays until then.
    OnFill,
}

/// The parameters of an SRAM L1D. Lines have 128 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SramL1dConfig {
    /// Number of sets in the cache.
    pub sets: Cited<usize>,
    /// Ways per set, 1 to 64.
    pub ways: Cited<usize>,
    /// How the set of a line is computed.
    pub set_index: Cited<SetIndex>,
    /// Which way of a full set is evicted.
    pub replacement: Cited<ReplacementPolicy>,
    /// When a line that misses takes a way: `on-miss` or `on-fill`.
    pub allocate: Cited<Allocate>,
    /// Unit of a fetch in bytes; 128 makes a cache without sectors.
    pub sector_bytes: Cited<usize>,
    /// Number of accesses that can start in one cycle.
    pub accesses_per_cycle: Cited<usize>,
    /// Number of banks, 1 to 64. Consecutive lines lie in consecutive banks, and each bank starts one access
    /// per cycle.
    pub banks: Cited<usize>,
    /// Cycles from the start of an access that hits to its completion.
    pub hit_latency_cycles: Cited<u64>,
    /// Cycles from the start of an access until its miss can leave for the network.
    pub tag_latency_cycles: Cited<u64>,
    /// Cycles from a fill, or from the reply to a bypassing access, to the completion of an access that it
    /// serves.
    pub fill_latency_cycles: Cited<u64>,
    /// Number of lines that can be fetched at a time (MSHRs).
    pub mshr_entries: Cited<usize>,
    /// Number of accesses that one MSHR can hold, the first included.
    pub mshr_merges: Cited<u16>,
    /// Capacity of the queue to the network, in packets.
    pub miss_queue: Cited<usize>,
    /// Number of writes that can be unacknowledged at a time.
    pub write_buffer: Cited<usize>,
    /// Number of atomics and bypassing loads that can be in flight at a time.
    pub bypass_entries: Cited<usize>,
    /// When written bytes are sent to the level below: `write-back` or `write-through`.
    pub write_policy: Cited<WritePolicy>,
    /// What a store does if its line is not in the cache.
    pub write_miss_policy: Cited<WriteMissPolicy>,
    /// Whether accesses that ask to bypass the cache do so. Atomics always do.
    pub honours_bypass: Cited<bool>,
}

impl SramL1dConfig {
    /// A 16 KB cache with the published parameters of other simulators, for tests and examples. Machines take
    /// their parameters from machine files instead.
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
            // Two cycles more than the latency, for a reader that is late once.
            hits: (*self.hit_latency_cycles as usize)
                .saturating_add(2)
                .saturating_mul(*self.accesses_per_cycle),
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
