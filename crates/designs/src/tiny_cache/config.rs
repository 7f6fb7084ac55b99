//! Parameters of tinyCaches, and the lane path without any.

use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::area::Component;
use strata_memory::doors::{Design, LanePath, LanePathDesign, LanePathSite, LaneSpace};
use strata_memory::{LINE_BYTES, ParameterError};
use strata_warp::WARP_LANES;

use super::cache::TinyCache;
use super::lines::MOST_LINES;

/// References that go past the caches (Fig. 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BarrierEvicts {
    /// Every line of the SM, as section 3.1 says.
    All,
    /// Lines of global memory, and those that the barrier's own CTA brought from shared memory.
    Block,
}

/// A tinyCache for each lane of an SM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TinyCacheConfig {
    /// Lines of a lane: a power of two up to 64.
    pub lines: Cited<u32>,
    /// Ways of a set: a power of two up to the number of lines.
    pub ways: Cited<u32>,
    /// Bytes of a line: 32, 64 or 128.
    pub line_bytes: Cited<u32>,
    /// Cycles from the lanes' addresses to the words of a hit, or to the first access below; 1 to 100.
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

impl Design for TinyCacheConfig {
    fn check(&self) -> Result<(), ParameterError> {
        let powers = [
            ("lines", *self.lines, 1, MOST_LINES as u32),
            ("ways", *self.ways, 1, *self.lines),
            ("line_bytes", *self.line_bytes, 32, LINE_BYTES as u32),
        ];
        for (field, value, least, most) in powers {
            if !value.is_power_of_two() || !(least..=most).contains(&value) {
                let message = format!("must be a power of two from {least} to {most}, found {value}");
                return Err(ParameterError::new(field, message));
            }
        }
        if !(1..=100).contains(&*self.latency_cycles) {
            let message = format!("must be 1 to 100, found {}", *self.latency_cycles);
            return Err(ParameterError::new("latency_cycles", message));
        }
        Ok(())
    }

    fn outline(&self) -> String {
        let bytes = u64::from(*self.lines) * u64::from(*self.line_bytes);
        format!("{bytes} B a lane, {} ways, lines of {} B", *self.ways, *self.line_bytes)
    }

    fn area(&self) -> Vec<Component> {
        let (data, control) = self.storage_bits();
        let lanes = WARP_LANES as u64;
        let (lines, bytes) = (*self.lines, *self.line_bytes);
        vec![
            Component::bits("data", lanes * data, format!("{lanes} lanes x {lines} lines x {bytes} B")),
            Component::bits(
                "control",
                lanes * control,
                format!(
                    "{lanes} lanes x {lines} lines x {} B: 79 bits of tag, 2 of state, {} of half-words (tinyCache 3.2)",
                    control / u64::from(lines) / 8,
                    bytes / 2
                ),
            ),
        ]
    }

    fn host_bytes(&self) -> u64 {
        u64::from(*self.lines) * (u64::from(*self.line_bytes) + 64) * WARP_LANES as u64 + (1 << 20)
    }
}

impl LanePathDesign for TinyCacheConfig {
    fn build(&self, site: LanePathSite) -> Result<Option<Box<dyn LanePath>>, ParameterError> {
        self.check()?;
        Ok(Some(Box::new(TinyCache::new(self, site))))
    }
}
