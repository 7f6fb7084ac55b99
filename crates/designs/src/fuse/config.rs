//! What a FUSE L1D is made of. Every system of the paper's evaluation is one set of these numbers.

use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::replacement::ReplacementPolicy;
use strata_memory::tags::SetIndex;

use crate::chassis::{Parameters, Rooms, WriteMissPolicy};

/// The parameters of an L1D of SRAM, STT-MRAM or both. Lines have 128 bytes; written bytes go below when their
/// line is evicted or flushed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FuseConfig {
    /// Unit of a fetch in bytes: 128 is a cache without sectors.
    pub sector_bytes: Cited<usize>,
    /// Cycles from a bank's read to the completion of its access.
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
    /// What a store does whose line is not here: `validate` or `fetch`.
    pub write_miss_policy: Cited<WriteMissPolicy>,
    /// Whether accesses that ask for it go past the cache. Atomics always do.
    pub honours_bypass: Cited<bool>,
    /// The SRAM bank, if there is one. Without an STT-MRAM bank it is the whole cache.
    pub sram: Option<SramConfig>,
    /// The STT-MRAM bank, if there is one.
    pub stt: Option<SttConfig>,
    /// The internal data bus between controller and banks (III-A). Without it the banks are reached side by side.
    pub bus: Option<BusConfig>,
    /// Counting Bloom filters and polling; asked for by `stt.search = "approximate"`.
    pub approximation: Option<ApproximationConfig>,
    /// Tag queue and swap buffer (IV-A). Without them a write to STT-MRAM blocks the cache.
    pub queues: Option<QueueConfig>,
    /// The read-level predictor (IV-B).
    pub predictor: Option<PredictorConfig>,
    /// By-NVM's dead-write predictor (V).
    pub dead_write: Option<DeadWriteConfig>,
}

/// The SRAM bank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SramConfig {
    /// Number of sets; one is full associativity.
    pub sets: Cited<usize>,
    /// Ways of a set, as many as one likes.
    pub ways: Cited<usize>,
    /// How a line finds its set.
    pub set_index: Cited<SetIndex>,
    /// `lru` or `fifo`.
    pub replacement: Cited<ReplacementPolicy>,
    /// It grows instead of evicting; of one set.
    pub grows: Cited<bool>,
}

/// The STT-MRAM bank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SttConfig {
    /// Number of sets; one is full associativity.
    pub sets: Cited<usize>,
    /// Ways of a set, as many as one likes.
    pub ways: Cited<usize>,
    /// How a line finds its set.
    pub set_index: Cited<SetIndex>,
    /// `lru` or `fifo`.
    pub replacement: Cited<ReplacementPolicy>,
    /// Cycles for which a read occupies the bank.
    pub read_cycles: Cited<u64>,
    /// Cycles for which a write occupies the bank.
    pub write_cycles: Cited<u64>,
    /// How its tags are searched.
    pub search: Cited<SearchKind>,
    /// What a load does that finds its line here.
    pub read_hit: Cited<SttHit>,
    /// What a store does that finds its line here.
    pub write_hit: Cited<SttHit>,
}

/// How the tags of the STT-MRAM bank are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchKind {
    /// All tags of a set at once.
    True,
    /// The associativity approximation of III-B.
    Approximate,
}

/// What becomes of a line in STT-MRAM that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SttHit {
    /// It stays.
    Stays,
    /// It moves to SRAM first.
    Migrates,
}

/// The internal data bus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BusConfig {
    /// Bytes that it carries in a core cycle: a power of two, at most a line.
    pub bytes_per_cycle: Cited<usize>,
}

/// The associativity approximation (III-B, IV-C).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApproximationConfig {
    /// Tags compared in one polling cycle.
    pub comparators: Cited<usize>,
    /// Counting Bloom filters.
    pub filters: Cited<usize>,
    /// Hash functions.
    pub hash_functions: Cited<usize>,
    /// Counters of a filter.
    pub slots: Cited<usize>,
    /// Bits of a counter.
    pub counter_bits: Cited<u32>,
    /// What a saturated counter does when a line leaves.
    pub saturated: Cited<Saturated>,
}

/// What a saturated counter does when a line leaves its filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Saturated {
    /// It stays saturated until the cache is emptied.
    Stays,
    /// The filter is counted anew from the tags that remain in its rows.
    Recounted,
}

/// Tag queue and swap buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueConfig {
    /// Commands that wait for the STT-MRAM bank.
    pub tag_queue_entries: Cited<usize>,
    /// Lines on their way from SRAM to STT-MRAM.
    pub swap_buffer_entries: Cited<usize>,
}

/// The read-level predictor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredictorConfig {
    /// The warp slots that are sampled: one set of the sampler each.
    pub sampled_warps: Cited<Vec<u8>>,
    /// One line in so many is sampled, chosen by a hash of its number; a power of two, 1 for all.
    pub sampled_line_stride: Cited<u64>,
    /// Entries of a set of the sampler.
    pub sampler_ways: Cited<usize>,
    /// Bits of the line's number that the sampler keeps.
    pub tag_bits: Cited<u32>,
    /// Entries of the history table.
    pub history_entries: Cited<usize>,
    /// Bits of a counter.
    pub counter_bits: Cited<u32>,
    /// A counter's first value.
    pub initial_counter: Cited<u8>,
    /// Counters above it say WORO.
    pub unused_threshold: Cited<u8>,
    /// Counters below it say WORM or WM.
    pub used_threshold: Cited<u8>,
    /// Where a miss goes whose line is predicted WORO.
    pub woro_miss: Cited<WoroMiss>,
}

/// What becomes of a miss whose line is predicted to be used once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WoroMiss {
    /// It goes past the cache: the line is not kept (III-A).
    Bypasses,
    /// Its line goes to SRAM, and to the last-level cache when evicted from there (IV-A, V-A).
    Sram,
}

/// The dead-write predictor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeadWriteConfig {
    /// One in so many sets of the cache is sampled.
    pub sampled_set_stride: Cited<usize>,
    /// Entries of a sampled set.
    pub sampler_ways: Cited<usize>,
    /// Bits of the line's number that the sampler keeps.
    pub tag_bits: Cited<u32>,
    /// Bits of the program counter that the sampler keeps.
    pub signature_bits: Cited<u32>,
    /// Tables of counters, read at once; 1 to 4.
    pub tables: Cited<usize>,
    /// Counters of a table.
    pub history_entries: Cited<usize>,
    /// Bits of a counter.
    pub counter_bits: Cited<u32>,
    /// A counter's first value.
    pub initial_counter: Cited<u8>,
    /// The least sum of an instruction's counters that says its writes are dead.
    pub dead_threshold: Cited<u8>,
    /// Whether a store that hits and is predicted dead goes below with its line.
    pub closing_writes: Cited<bool>,
}

impl FuseConfig {
    /// Lines that the banks hold.
    pub fn lines(&self) -> usize {
        let sram = self.sram.as_ref().map_or(0, |bank| *bank.sets * *bank.ways);
        let stt = self.stt.as_ref().map_or(0, |bank| *bank.sets * *bank.ways);
        sram + stt
    }

    pub(super) fn parameters(&self) -> Parameters {
        Parameters {
            sector_bytes: *self.sector_bytes,
            accesses_per_cycle: 1,
            banks: 1,
            hit_latency: *self.hit_latency_cycles,
            tag_latency: *self.tag_latency_cycles,
            fill_latency: *self.fill_latency_cycles,
            miss_queue: *self.miss_queue,
            write_back: true,
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
            // In a cycle the door and the tag queue complete one access each; two cycles more than the latency,
            // for a reader who comes late.
            hits: (*self.hit_latency_cycles as usize).saturating_add(2).saturating_mul(2),
        }
    }
}
