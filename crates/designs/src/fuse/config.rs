//! The parameters of a FUSE L1D. Every system of the paper's evaluation is one set of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::LINE_BYTES;
use strata_memory::policy::Chosen;
use strata_memory::replacement::ReplacementPolicy;
use strata_memory::tags::SetIndex;

use super::dead_write::MAX_TABLES;
use super::nvm_cbf::MAX_HASHES;
use crate::chassis::{Parameters, Rooms, l1d_config};

/// Most lines in one bank. ASSUMED: 16 MiB, far more than any L1D.
pub(super) const MAX_LINES: usize = 1 << 17;

l1d_config! {
    /// The parameters of an L1D of SRAM, STT-MRAM or both. Lines have 128 bytes. Written bytes are sent below
    /// when their line is evicted or flushed.
    #[schemars(transform = allocates_on_writes)]
    pub struct FuseConfig {
        /// The SRAM bank, if there is one. Without an STT-MRAM bank, it is the whole cache.
        pub sram: Option<SramConfig>,
        /// The STT-MRAM bank, if there is one.
        pub stt: Option<SttConfig>,
        /// The internal data bus between controller and banks (III-A). Without it, the banks are accessed in
        /// parallel.
        pub bus: Option<BusConfig>,
        /// Counting Bloom filters and polling, required by `stt.search = "approximate"`.
        pub approximation: Option<ApproximationConfig>,
        /// Tag queue and swap buffer (IV-A). Without them, a write to STT-MRAM blocks the cache.
        pub queues: Option<QueueConfig>,
        /// The read-level predictor (IV-B), if there is one.
        pub predictor: Option<PredictorConfig>,
        /// By-NVM's dead-write predictor (V), if there is one.
        pub dead_write: Option<DeadWriteConfig>,
    }
}

/// Takes from the policies those that the L1D refuses: it allocates on writes (V).
fn allocates_on_writes(schema: &mut schemars::Schema) {
    if let Some(policy) =
        schema.pointer_mut("/properties/write_miss_policy").and_then(|policy| policy.as_object_mut())
    {
        policy.insert("only".to_owned(), ["validate", "fetch"].as_slice().into());
    }
}

/// The parameters of the SRAM bank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SramConfig {
    /// Number of sets; 1 makes a fully associative bank.
    #[schemars(range(min = 1, max = MAX_LINES), extend("unit" = "sets"))]
    pub sets: Cited<usize>,
    /// Ways per set, any number of them.
    #[schemars(range(min = 1, max = MAX_LINES), extend("unit" = "ways"))]
    pub ways: Cited<usize>,
    /// How the set of a line is computed.
    pub set_index: Cited<SetIndex>,
    /// Which way of a full set is evicted.
    #[schemars(extend("only" = ["lru", "fifo"]))]
    pub replacement: Cited<Chosen<dyn ReplacementPolicy>>,
    /// Whether the bank grows instead of evicting (the Oracle); only for one set.
    pub grows: Cited<bool>,
}

/// The parameters of the STT-MRAM bank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SttConfig {
    /// Number of sets; 1 makes a fully associative bank.
    #[schemars(range(min = 1, max = MAX_LINES), extend("unit" = "sets"))]
    pub sets: Cited<usize>,
    /// Ways per set, any number of them.
    #[schemars(range(min = 1, max = MAX_LINES), extend("unit" = "ways"))]
    pub ways: Cited<usize>,
    /// How the set of a line is computed.
    pub set_index: Cited<SetIndex>,
    /// Which way of a full set is evicted.
    #[schemars(extend("only" = ["lru", "fifo"]))]
    pub replacement: Cited<Chosen<dyn ReplacementPolicy>>,
    /// Cycles that a read occupies the bank.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub read_cycles: Cited<u64>,
    /// Cycles that a write occupies the bank.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub write_cycles: Cited<u64>,
    /// How its tags are searched.
    pub search: Cited<SearchKind>,
    /// What a load that hits here does.
    pub read_hit: Cited<SttHit>,
    /// What a store that hits here does.
    pub write_hit: Cited<SttHit>,
}

/// How the tags of the STT-MRAM bank are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SearchKind {
    /// Compares all tags of a set at once.
    True,
    /// Uses the associativity approximation of III-B.
    Approximate,
}

/// What happens to a line in STT-MRAM when it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SttHit {
    /// The line stays in STT-MRAM.
    Stays,
    /// The line first moves to SRAM.
    Migrates,
}

/// The parameters of the internal data bus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BusConfig {
    /// Bytes that it carries per core cycle: a power of two.
    #[schemars(range(min = 1, max = LINE_BYTES), extend("unit" = "B"))]
    pub bytes_per_cycle: Cited<usize>,
}

/// The parameters of the associativity approximation (III-B, IV-C).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproximationConfig {
    /// Number of tags compared in one polling cycle.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "tags"))]
    pub comparators: Cited<usize>,
    /// Number of counting Bloom filters.
    #[schemars(range(min = 1, max = 65536), extend("unit" = "filters"))]
    pub filters: Cited<usize>,
    /// Number of hash functions per filter.
    #[schemars(range(min = 1, max = MAX_HASHES), extend("unit" = "functions"))]
    pub hash_functions: Cited<usize>,
    /// Number of counters per filter.
    #[schemars(range(min = 1, max = 65536), extend("unit" = "counters"))]
    pub slots: Cited<usize>,
    /// Width of a counter in bits, and with it its largest value.
    #[schemars(range(min = 1, max = 8), extend("unit" = "bits"))]
    pub counter_bits: Cited<u32>,
    /// What happens to a saturated counter when a line leaves.
    pub saturated: Cited<Saturated>,
}

/// What happens to a saturated counter when a line leaves its filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Saturated {
    /// The counter stays saturated until the cache is emptied.
    Stays,
    /// The filter's counters are recomputed from the tags that remain in its rows.
    Recounted,
}

/// The parameters of the tag queue and the swap buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueConfig {
    /// Capacity of the tag queue, in commands for the STT-MRAM bank.
    #[schemars(range(min = 1, max = 1024), extend("unit" = "commands"))]
    pub tag_queue_entries: Cited<usize>,
    /// Capacity of the swap buffer, in lines on their way to STT-MRAM.
    #[schemars(range(min = 1, max = 1024), extend("unit" = "lines"))]
    pub swap_buffer_entries: Cited<usize>,
}

/// The parameters of the read-level predictor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PredictorConfig {
    /// The warp slots that are sampled, each with one set of the sampler.
    #[schemars(extend("unit" = "warp slots"))]
    pub sampled_warps: Cited<Vec<u8>>,
    /// Which requests of a sampled warp the sampler examines.
    pub sampled_requests: Cited<SampledRequests>,
    /// Entries per set of the sampler.
    #[schemars(range(min = 1, max = 256), extend("unit" = "entries"))]
    pub sampler_ways: Cited<usize>,
    /// Bits of a line number that the sampler keeps.
    #[schemars(range(min = 1, max = 57), extend("unit" = "bits"))]
    pub tag_bits: Cited<u32>,
    /// Number of entries in the history table.
    #[schemars(range(min = 1, max = 65536), extend("unit" = "entries"))]
    pub history_entries: Cited<usize>,
    /// Width of a counter in bits, and with it its largest value.
    #[schemars(range(min = 1, max = 8), extend("unit" = "bits"))]
    pub counter_bits: Cited<u32>,
    /// What a counter holds at first.
    #[schemars(range(min = 0), extend("unit" = "counts"))]
    pub initial_counter: Cited<u8>,
    /// Counters above this value predict write-once-read-once (WORO).
    #[schemars(range(min = 0), extend("unit" = "counts"))]
    pub unused_threshold: Cited<u8>,
    /// Counters below this value predict write-once-read-multiple (WORM) or write-multiple (WM).
    #[schemars(range(min = 0), extend("unit" = "counts"))]
    pub used_threshold: Cited<u8>,
    /// What a miss does if its line is predicted WORO.
    pub woro_miss: Cited<WoroMiss>,
}

/// Which requests of a sampled warp the sampler examines (IV-B: "memory requests generated from four representative warps").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SampledRequests {
    /// Every line that the warp's instructions touch.
    All,
    /// Of each instruction the first line: that of its lowest lane.
    FirstOfInstruction,
}

/// What a miss does if its line is predicted to be used once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WoroMiss {
    /// The miss goes past the cache, and the line is not kept (III-A).
    Bypasses,
    /// The line goes to SRAM, and to the last-level cache when SRAM evicts it (IV-A, V-A).
    Sram,
}

/// What a store was that another store follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StoreBeforeStore {
    /// Live: without it the second one would have missed.
    Live,
    /// Dead: nothing read what it wrote.
    Dead,
}

/// The parameters of the dead-write predictor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeadWriteConfig {
    /// One set of the cache in this many is sampled.
    #[schemars(range(min = 1), extend("unit" = "sets"))]
    pub sampled_set_stride: Cited<usize>,
    /// Entries per sampled set.
    #[schemars(range(min = 1, max = 256), extend("unit" = "entries"))]
    pub sampler_ways: Cited<usize>,
    /// Bits of a line number that the sampler keeps.
    #[schemars(range(min = 1, max = 57), extend("unit" = "bits"))]
    pub tag_bits: Cited<u32>,
    /// Bits of a program counter that the sampler keeps.
    #[schemars(range(min = 1, max = 32), extend("unit" = "bits"))]
    pub signature_bits: Cited<u32>,
    /// Number of tables of counters, read in parallel.
    #[schemars(range(min = 1, max = MAX_TABLES), extend("unit" = "tables"))]
    pub tables: Cited<usize>,
    /// Number of counters per table, a power of two.
    #[schemars(range(min = 1, max = 65536), extend("unit" = "counters"))]
    pub history_entries: Cited<usize>,
    /// Width of a counter in bits, and with it its largest value.
    #[schemars(range(min = 1, max = 8), extend("unit" = "bits"))]
    pub counter_bits: Cited<u32>,
    /// What a counter holds at first.
    #[schemars(range(min = 0), extend("unit" = "counts"))]
    pub initial_counter: Cited<u8>,
    /// The sum of an instruction's counters from which its writes are predicted dead.
    #[schemars(range(min = 0), extend("unit" = "counts"))]
    pub dead_threshold: Cited<u8>,
    /// What a store was whose bytes are stored over, in part or whole, before anything reads the line; live
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_before_store: Option<Cited<StoreBeforeStore>>,
    /// Whether a store that hits and is predicted dead is sent below together with its line.
    pub closing_writes: Cited<bool>,
}

impl FuseConfig {
    /// Number of lines that the banks can hold.
    pub fn lines(&self) -> usize {
        let sram = self.sram.as_ref().map_or(0, |bank| *bank.sets * *bank.ways);
        let stt = self.stt.as_ref().map_or(0, |bank| *bank.sets * *bank.ways);
        sram + stt
    }

    pub(super) fn parameters(&self) -> Parameters {
        self.chassis_parameters()
    }

    /// The door and the tag queue each complete one access per cycle.
    pub(super) fn rooms(&self) -> Rooms {
        self.chassis_rooms(2)
    }
}
