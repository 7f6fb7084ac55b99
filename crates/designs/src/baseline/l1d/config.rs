//! The parameters of an SRAM L1D.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::LINE_BYTES;
use strata_memory::insertion::InsertionPolicy;
use strata_memory::policy::Chosen;
use strata_memory::prefetch::{PrefetchPolicy, Prefetching};
use strata_memory::replacement::{self, ReplacementPolicy};
use strata_memory::tags::{Geometry, MAX_FRAMES, SetIndex};

use super::store::Shape;
use crate::chassis::{Parameters, Rooms, WriteMissPolicy, l1d_config};

/// When written bytes are sent to the level below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// Sends them when the line is evicted or flushed.
    WriteBack,
    /// Sends them with the store.
    WriteThrough,
}

/// When a line that misses takes a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Allocate {
    /// Takes the way when the fetch is sent; the way stays empty until the fill.
    OnMiss,
    /// Takes the way when the fetch is done; the previous line stays until then.
    OnFill,
}

l1d_config! {
    /// The parameters of an SRAM L1D. Lines have 128 bytes.
    pub struct SramL1dConfig {
        /// Sets of the cache; times `ways`, its lines.
        #[schemars(range(min = 1, max = MAX_FRAMES), extend("unit" = "sets"))]
        pub sets: Cited<usize>,
        /// Ways of each set: lines with the same index that it holds at a time.
        #[schemars(range(min = 1, max = 64), extend("unit" = "ways"))]
        pub ways: Cited<usize>,
        /// Whether it shares its storage with shared memory, as the machine's `sm.unified` says; `ways` are then the most that
        /// it can have. Without this key its storage is its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub unified: Option<Cited<bool>>,
        /// How the set of a line is computed.
        pub set_index: Cited<SetIndex>,
        /// Which way of a full set is evicted.
        pub replacement: Cited<Chosen<dyn ReplacementPolicy>>,
        /// Which lines that are fetched take a way; without this key, all. A store that fetches nothing is not asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub insertion: Option<Cited<Chosen<dyn InsertionPolicy>>>,
        /// What is fetched before it is asked for, into the cache itself; without this key, nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub prefetch: Option<Cited<Chosen<dyn PrefetchPolicy>>>,
        /// When a line that misses takes a way.
        pub allocate: Cited<Allocate>,
        /// Number of accesses that can start in one cycle.
        #[schemars(range(min = 1, max = 64), extend("unit" = "accesses"))]
        pub accesses_per_cycle: Cited<usize>,
        /// Number of banks. Consecutive lines lie in consecutive banks, and each bank starts one access
        /// per cycle.
        #[schemars(range(min = 1, max = 64), extend("unit" = "banks"))]
        pub banks: Cited<usize>,
        /// Unit in which loads that bypass the cache ask for bytes; without this key, what the lanes ask for.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 4, max = LINE_BYTES), extend("unit" = "B"))]
        pub bypass_sector_bytes: Option<Cited<usize>>,
        /// When written bytes are sent to the level below.
        pub write_policy: Cited<WritePolicy>,
    }
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
            unified: None,
            set_index: assumed(SetIndex::Bits, "the plain choice"),
            replacement: table(replacement::lru()),
            insertion: None,
            prefetch: None,
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
            bypass_sector_bytes: None,
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
            accesses_per_cycle: (*self.accesses_per_cycle).try_into().unwrap_or(u32::MAX),
            banks: *self.banks as u64,
            write_back: *self.write_policy == WritePolicy::WriteBack,
            bypass_sector_bytes: self.bypass_sector_bytes.as_deref().map_or(1, |bytes| *bytes),
            ..self.chassis_parameters()
        }
    }

    /// What a cache of some frames fetches before it is asked for.
    pub(super) fn prefetching(&self, frames: usize) -> Option<Box<Prefetching>> {
        Prefetching::new(&***self.prefetch.as_ref()?, frames)
    }

    pub(super) fn rooms(&self) -> Rooms {
        self.chassis_rooms(*self.accesses_per_cycle)
    }

    pub(super) fn shape(&self) -> Shape {
        Shape {
            geometry: self.geometry(),
            on_fill: *self.allocate == Allocate::OnFill,
            insertion: self.insertion.as_ref().map(|policy| policy.value.clone()),
            mshrs: *self.mshr_entries,
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
