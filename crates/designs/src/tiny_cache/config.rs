//! Parameters of tinyCaches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::LINE_BYTES;
use strata_memory::doors::LaneSpace;

use super::lines::MOST_LINES;

/// References that go past the caches (Fig. 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bypass {
    /// None: global and shared memory are cached (bypass_none).
    None,
    /// Those to shared memory (bypass_shared).
    Shared,
    /// Those to global memory (bypass_global).
    Global,
}

impl Bypass {
    /// Whether references to a space go past the caches.
    pub fn includes(self, space: LaneSpace) -> bool {
        match self {
            Bypass::None => false,
            Bypass::Shared => space == LaneSpace::Shared,
            Bypass::Global => space == LaneSpace::Global,
        }
    }
}

/// What a barrier evicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BarrierEvicts {
    /// Every line of the SM, as section 3.1 says.
    All,
    /// Lines of global memory, and those that the barrier's own CTA brought from shared memory.
    Block,
}

/// A tinyCache for each lane of an SM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TinyCacheConfig {
    /// Lines of a lane's cache: a power of two.
    #[schemars(range(min = 1, max = MOST_LINES), extend("unit" = "lines"))]
    pub lines: Cited<u32>,
    /// Ways of a set: a power of two up to the number of lines.
    #[schemars(range(min = 1), extend("unit" = "ways"))]
    pub ways: Cited<u32>,
    /// Bytes of a line: 32, 64 or 128.
    #[schemars(range(min = 32, max = LINE_BYTES), extend("unit" = "B"))]
    pub line_bytes: Cited<u32>,
    /// Cycles from the lanes' addresses to the words of a hit, or to the first access below.
    #[schemars(range(min = 1, max = 100), extend("unit" = "cycles"))]
    pub latency_cycles: Cited<u32>,
    /// References that go past the caches.
    pub bypass: Cited<Bypass>,
    /// What a barrier evicts.
    pub barrier: Cited<BarrierEvicts>,
}

impl TinyCacheConfig {
    /// Storage of one lane's cache, in bits, as data and the rest (section 3.2): a line has 79 bits of tag, two of
    /// state and a control bit a half-word, rounded up to whole bytes.
    pub fn storage_bits(&self) -> (u64, u64) {
        let (lines, bytes) = (u64::from(*self.lines), u64::from(*self.line_bytes));
        let control = (79 + 2 + bytes / 2).next_multiple_of(8);
        (8 * lines * bytes, lines * control)
    }
}
