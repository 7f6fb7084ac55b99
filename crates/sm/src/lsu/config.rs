//! Parameters of the load/store unit.

use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::LINE_BYTES;

/// What a machine file says about the load/store unit. Cycles are core cycles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LsuConfig {
    /// Memory instructions in address generation or with accesses that no memory has taken yet, 1 to 256. At least
    /// `address_latency_cycles` keep one going in every cycle. Those that wait for their accesses are not counted.
    pub queue: Cited<u32>,
    /// Accesses offered to the L1D and not yet completed; each has a tray of its own.
    pub accesses: Cited<u32>,
    /// From issue to the first cycle in which an access can be offered: address generation; at least 1.
    pub address_latency_cycles: Cited<u32>,
    /// From the completion of an instruction's last access to its write-back.
    pub writeback_latency_cycles: Cited<u32>,
    /// Lanes whose bytes lie in one aligned segment share an access: 32, 64 or 128 bytes.
    pub segment_bytes: Cited<u32>,
    /// Shared memory.
    pub shared: ScratchpadConfig,
    /// The texture unit.
    pub texture: TextureConfig,
}

/// What a machine file says about the texture unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextureConfig {
    /// Lanes of a fetch whose texels are addressed in a cycle, 1 to 32.
    pub lanes_per_cycle: Cited<u32>,
    /// Texels of a lane that are addressed in a cycle, 1 to 8.
    pub texels_per_cycle: Cited<u32>,
    /// From the last texel of a fetch to its results, less write-back; at least 1.
    pub filter_latency_cycles: Cited<u32>,
}

/// What a machine file says about shared memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScratchpadConfig {
    /// Banks, a power of two up to 64.
    pub banks: Cited<u32>,
    /// Width of a bank in bytes: 4 or 8.
    pub bank_bytes: Cited<u32>,
    /// From an instruction's last pass to its completion; at least 1.
    pub latency_cycles: Cited<u32>,
}

/// The SM around a load/store unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Warp slots of the SM, at most 64.
    pub warp_slots: usize,
    /// Number of the SM's first warp slot over all SMs: by it local memory is laid out.
    pub first_warp: u64,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
}

/// Instructions that are under way without an access of the L1D: in shared memory's, the constant cache's or the texture
/// unit's pipeline, held back by a fence, on their way to write-back.
const REST: usize = 512;

impl LsuConfig {
    /// Most instructions in flight: each is in the front, has an access under way, or is one of a few others.
    pub fn most_instructions(&self) -> usize {
        *self.queue as usize + *self.accesses as usize + REST
    }

    /// Whether such a unit can be built; a sentence that names the field when not.
    pub fn check(&self) -> Result<(), String> {
        let in_range = |name: &str, value: u32, least: u32, most: u32| {
            (least..=most)
                .contains(&value)
                .then_some(())
                .ok_or_else(|| format!("{name} is {value}, expected {least} to {most}"))
        };
        in_range("queue", *self.queue, 1, 256)?;
        in_range("accesses", *self.accesses, 1, 32768)?;
        in_range("address_latency_cycles", *self.address_latency_cycles, 1, 1024)?;
        in_range("writeback_latency_cycles", *self.writeback_latency_cycles, 0, 1024)?;
        in_range("segment_bytes", *self.segment_bytes, 32, LINE_BYTES as u32)?;
        in_range("shared.banks", *self.shared.banks, 1, 64)?;
        in_range("shared.bank_bytes", *self.shared.bank_bytes, 4, 8)?;
        in_range("shared.latency_cycles", *self.shared.latency_cycles, 1, 1024)?;
        in_range("texture.lanes_per_cycle", *self.texture.lanes_per_cycle, 1, 32)?;
        in_range("texture.texels_per_cycle", *self.texture.texels_per_cycle, 1, 8)?;
        in_range("texture.filter_latency_cycles", *self.texture.filter_latency_cycles, 1, 1024)?;
        for (name, value) in [
            ("segment_bytes", *self.segment_bytes),
            ("shared.banks", *self.shared.banks),
            ("shared.bank_bytes", *self.shared.bank_bytes),
        ] {
            if !value.is_power_of_two() {
                return Err(format!("{name} is {value}, expected a power of two"));
            }
        }
        Ok(())
    }
}
