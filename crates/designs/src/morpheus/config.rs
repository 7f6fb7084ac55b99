//! The parameters of a slice with a Morpheus controller.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;

use crate::baseline::L2Config;

/// Longest epoch: the kernel counts up to 1023 blocks of a class, halves 512 and more at its end, and puts one in every hundred
/// cycles at most.
pub(super) const MOST_EPOCH_CYCLES: u32 = 50_000;

/// Most blocks for which a set in the L1D can count: no L1D is larger than that.
pub(super) const MOST_L1_WAYS: u32 = 8192;

/// Longest wait for the rest of a block. A launch may have to wait for its end.
pub(super) const MOST_GATHER_CYCLES: u64 = 1_000_000;

/// The parameters of a conventional slice and the Morpheus controller in front of it. The paper has one controller for each
/// LLC partition; where a partition has several slices, each has a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MorpheusConfig {
    /// Warps of an SM in cache mode, each a set of the extended LLC.
    #[schemars(range(min = 1, max = 64), extend("unit" = "warps"))]
    pub warps: Cited<u32>,
    /// Blocks of a set in registers, 1 to 256; with compression, registers for blocks, 1 to 32.
    #[schemars(range(min = 1), extend("unit" = "blocks"))]
    pub ways: Cited<u32>,
    /// Sets in the shared memory of SMs in cache mode; without it all are in registers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedSets>,
    /// Sets in the L1D of SMs in cache mode; without it there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l1: Option<L1Sets>,
    /// Which warps of an SM are one launch of the kernel; without it, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launches: Option<Cited<Launches>>,
    /// Most rows of the warp status table, and with it most sets that the slice can have in SMs.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "rows"))]
    pub rows: Cited<u32>,
    /// Compression of the blocks of sets; without it there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
    /// How hits and misses in the extended LLC are predicted.
    pub prediction: Cited<Prediction>,
    /// How warps wait for requests.
    pub wait: Cited<Wait>,
    /// When warps get the blocks of predicted misses.
    pub insertions: Cited<Insertions>,
    /// Who fetches a block after a false hit: one that was predicted a hit and is not there.
    pub late_misses: Cited<LateMisses>,
    /// Size of a Bloom filter in bytes; each set has two.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "B"))]
    pub filter_bytes: Cited<u32>,
    /// Bits of a filter that a block sets.
    #[schemars(range(min = 1, max = 16), extend("unit" = "bits"))]
    pub filter_hashes: Cited<u32>,
    /// Lines of the read data buffer, for reads that warps serve.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "lines"))]
    pub read_buffers: Cited<u32>,
    /// Lines of the write data buffer, for writes, insertions and atomics that warps serve.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "lines"))]
    pub write_buffers: Cited<u32>,
    /// For how long an operation has its line.
    pub buffered: Cited<Buffered>,
    /// L2 cycles for which bytes that are written to a block that its set does not have wait for the rest of the block. Then they go
    /// to memory, and the set gets no block. With 0, the block is fetched at once.
    #[schemars(range(max = MOST_GATHER_CYCLES), extend("unit" = "cycles"))]
    pub gather_cycles: Cited<u64>,
    /// L2 cycles from the arrival of a request of the extended LLC, or of a load or store of the window, to its effect.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub access_latency_cycles: Cited<u64>,
    /// L2 cycles from there to the reply.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub reply_latency_cycles: Cited<u64>,
    /// The conventional slice.
    pub conventional: L2Config,
}

/// Sets in shared memory, whose tags are in registers (4.2.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedSets {
    /// Warps of an SM that hold such a set.
    #[schemars(range(min = 0), extend("unit" = "warps"))]
    pub warps: Cited<u32>,
    /// Blocks of such a set. They are not compressed.
    #[schemars(range(min = 1, max = 256), extend("unit" = "blocks"))]
    pub ways: Cited<u32>,
}

/// Sets in the L1D, which has their tags and chooses its victims (4.2.2). Every request to them goes to their warp: only the
/// L1D knows what it holds. What it misses it loads from memory, past the LLC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct L1Sets {
    /// Warps of an SM that ask it.
    #[schemars(range(min = 0), extend("unit" = "warps"))]
    pub warps: Cited<u32>,
    /// Blocks for which each of them counts in the address separator.
    #[schemars(range(min = 1, max = MOST_L1_WAYS), extend("unit" = "blocks"))]
    pub ways: Cited<u32>,
}

/// Which warps of an SM in cache mode are one launch of the kernel, and so have as many registers each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Launches {
    /// All of them.
    One,
    /// Those whose sets are kept in the same place. Warps with sets in shared memory or in the L1D have the registers that they
    /// need, and those with sets in registers have the others.
    ByPlace,
}

/// Compression of blocks by their warps (4.3.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compression {
    /// Core cycles after which a set gives its levels registers anew.
    #[schemars(range(min = 1, max = MOST_EPOCH_CYCLES), extend("unit" = "core cycles"))]
    pub epoch_cycles: Cited<u32>,
    /// Blocks of a set as the address separator counts them, from `ways` to four times as many.
    #[schemars(extend("unit" = "blocks", "minimum" = null))]
    pub blocks: Cited<u32>,
    /// Which blocks the levels follow; without it, `history`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Cited<Counts>>,
}

/// Which blocks that were put into a compressed set decide how many registers its levels get at the end of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// All, older ones less: counters are halved when one has counted 512. Levels change once as many came as fill the set.
    History,
    /// Those of the epoch: counters begin at zero in each.
    Epoch,
}

/// How the controller predicts whether a set of the extended LLC holds a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Prediction {
    /// By two Bloom filters for each set (4.1.2).
    Bloom,
    /// Not at all: every request goes to the set's warp.
    None,
    /// By what the set holds at that time, which no hardware knows.
    Perfect,
}

/// What the controller does with the load of a row that has no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// It withholds the reply until there is one: an idle extended LLC sends nothing.
    Held,
    /// It answers at once, and the warp loads again.
    Polled,
}

/// Who fetches a block after a false hit: one that was predicted a hit and is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LateMisses {
    /// The controller, once the warp has told it; the block is inserted afterwards, as one of a predicted miss.
    Controller,
    /// The warp, which serves no other request until the block is there.
    Warp,
}

/// For how long an operation of a warp has a line of the data buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Buffered {
    /// From its hand-over to its result.
    WholeOperation,
    /// While the line holds what is nowhere else: an insertion until its warp has loaded the block, a write or an atomic until its
    /// result, since its set may not have the block. A read has none where the block that answers it is its result
    /// ([`Wait::Held`]) and goes straight on.
    OnlyCopy,
}

/// When the warp of a set gets what no request waits for: the block of a predicted miss, and bytes of a write, both answered
/// already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Insertions {
    /// In the order in which requests to the set arrived.
    InTurn,
    /// When the warp has no other request; in turn if another request waits for the block, which may go on for ever otherwise.
    AfterRequests,
    /// As `after-requests`; a block that memory has as well is not inserted at all if its warp is busy when it comes.
    DroppedWhenBusy,
}

impl MorpheusConfig {
    /// A small slice in front of [`L2Config::example`], for tests and examples. Machines take their parameters from machine
    /// files instead.
    pub fn example() -> MorpheusConfig {
        fn paper<T>(value: T, place: &str) -> Cited<T> {
            Cited::new(value, format!("Morpheus {place}"))
        }
        fn assumed<T>(value: T, why: &str) -> Cited<T> {
            Cited::new(value, format!("ASSUMED: {why}"))
        }
        MorpheusConfig {
            warps: paper(48, "4.2"),
            ways: paper(32, "4.2.1"),
            shared: None,
            l1: None,
            launches: None,
            compression: None,
            rows: paper(256, "4.1.3"),
            prediction: paper(Prediction::Bloom, "4.1.2"),
            wait: assumed(Wait::Held, "the paper does not say how warps wait; this costs the least"),
            insertions: assumed(
                Insertions::AfterRequests,
                "a program waits for reads, not for what is inserted",
            ),
            late_misses: paper(LateMisses::Controller, "4.1.2, Fig. 6"),
            filter_bytes: paper(32, "4.1.2"),
            filter_hashes: assumed(3, "about the best for 64 blocks in 256 bits"),
            read_buffers: assumed(256, "one for each row"),
            write_buffers: assumed(256, "one for each row"),
            buffered: assumed(Buffered::WholeOperation, "the row's pointer is set with the request"),
            gather_cycles: assumed(500, "a few accesses to DRAM"),
            access_latency_cycles: assumed(60, "half of the conventional slice's pipeline"),
            reply_latency_cycles: assumed(10, "as a hit of the conventional slice"),
            conventional: L2Config::example(),
        }
    }
}
