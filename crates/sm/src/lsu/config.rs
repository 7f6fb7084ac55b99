//! Parameters of the load/store unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::LINE_BYTES;
use strata_warp::WARP_LANES;

use super::banks::Banks;

/// The `lsu` section of a machine file. All latencies are in core cycles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LsuConfig {
    /// Entries of the pipeline's front. An instruction in address generation, or with accesses not yet
    /// taken, holds one for each kind of memory it accesses. At least `address_latency_cycles` entries are needed to
    /// issue one instruction per cycle.
    #[schemars(range(min = 1, max = 256), extend("unit" = "instructions"))]
    pub queue: Cited<u32>,
    /// Accesses in flight at the L1D. Each owns a 128-byte line buffer until it completes.
    #[schemars(range(min = 1, max = 32768), extend("unit" = "accesses"))]
    pub accesses: Cited<u32>,
    /// Cycles of address generation, from issue to the first cycle that can offer an access.
    #[schemars(range(min = 1, max = 1024), extend("unit" = "cycles"))]
    pub address_latency_cycles: Cited<u32>,
    /// Cycles from the completion of an instruction's last access to its write-back.
    #[schemars(range(min = 0, max = 1024), extend("unit" = "cycles"))]
    pub writeback_latency_cycles: Cited<u32>,
    /// Coalescing granularity in bytes: 32, 64 or 128. Lanes that fall into one aligned segment share an access.
    #[schemars(range(min = 32, max = LINE_BYTES), extend("unit" = "B"))]
    pub segment_bytes: Cited<u32>,
    /// Lanes of an aligned group whose integer atomics on the same address leave the SM as one operation: 1, 2, 4, 8,
    /// 16 or 32; 1, each lane on its own, when absent. Add, minimum, maximum, and, or and exclusive or are combined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = WARP_LANES), extend("unit" = "lanes"))]
    pub atomic_combining_lanes: Option<Cited<u32>>,
    /// Whether global memory's words pass the banks of shared memory, as where one array holds both: an instruction takes a
    /// cycle for each pass, and the next begins behind the last. When absent, the L1D's accesses alone take time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global_in_banks: Option<Cited<bool>>,
    /// Which way references to read-only memory take. `own-paths`: parameters are operands of the instructions that use them,
    /// other loads of parameters and constants go to the constant cache, and fetches to the texture unit. `as-global`: each
    /// `ld.param`, `ld.const` and texel is a load of global memory, through the lane path, coalescer and L1D; it is counted as
    /// one. `own-paths` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<Cited<ReadOnlyWay>>,
    /// Banks and latency of shared memory.
    pub shared: ScratchpadConfig,
    /// Throughput and latency of the texture unit.
    pub texture: TextureConfig,
}

/// The way that references to read-only memory take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadOnlyWay {
    /// Operands, the constant cache and the texture unit.
    OwnPaths,
    /// That of loads of global memory.
    AsGlobal,
}

/// The `texture` table of the load/store unit's section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextureConfig {
    /// Lanes whose texels the unit addresses in a cycle.
    #[schemars(range(min = 1, max = 32), extend("unit" = "lanes"))]
    pub lanes_per_cycle: Cited<u32>,
    /// Texels of a lane that the unit addresses in a cycle.
    #[schemars(range(min = 1, max = 8), extend("unit" = "texels"))]
    pub texels_per_cycle: Cited<u32>,
    /// Cycles from the arrival of a fetch's last texel to its filtered results, excluding write-back.
    #[schemars(range(min = 1, max = 1024), extend("unit" = "cycles"))]
    pub filter_latency_cycles: Cited<u32>,
    /// The same where no lane blends texels: point filters, linear memory, gathers and queries. As long as filtered
    /// ones when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024), extend("unit" = "cycles"))]
    pub point_latency_cycles: Option<Cited<u32>>,
}

impl TextureConfig {
    /// Cycles from the arrival of a fetch's last texel to results that blend nothing.
    pub fn point_latency(&self) -> u32 {
        self.point_latency_cycles.as_deref().map_or(*self.filter_latency_cycles, |cycles| *cycles)
    }
}

/// The `shared` table of the load/store unit's section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScratchpadConfig {
    /// Banks of shared memory, a power of two. Addresses in different words of a bank take a pass each.
    #[schemars(range(min = 1, max = 64), extend("unit" = "banks"))]
    pub banks: Cited<u32>,
    /// Bytes that one bank serves per cycle: 4, 8 or 16.
    #[schemars(range(min = 4, max = 16), extend("unit" = "B"))]
    pub bank_bytes: Cited<u32>,
    /// Whether loads wider than a bank are served to twice as many lanes in a pass where lanes read the same in pairs, each
    /// as its neighbour or each as the next but one; not when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs_together: Option<Cited<bool>>,
    /// Whether a bank serves any number of words in a pass: ideal, no bank of a real memory. Atomics and barrier objects of shared memory
    /// take their turns as ever. Not when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict_free: Option<Cited<bool>>,
    /// Cycles from an instruction's last pass through the banks to its completion.
    #[schemars(range(min = 1, max = 1024), extend("unit" = "cycles"))]
    pub latency_cycles: Cited<u32>,
    /// Cycles more where a lane accesses the shared memory of another CTA of its cluster; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 4096), extend("unit" = "cycles"))]
    pub remote_latency_cycles: Option<Cited<u32>>,
}

impl ScratchpadConfig {
    /// The banks.
    pub fn banks(&self) -> Banks {
        let is_set = |key: &Option<Cited<bool>>| key.as_deref().is_some_and(|is_set| *is_set);
        Banks::new(*self.banks, *self.bank_bytes, is_set(&self.pairs_together))
            .without_conflicts(is_set(&self.conflict_free))
    }

    /// Cycles more to another CTA of the cluster.
    pub fn remote_latency(&self) -> u32 {
        self.remote_latency_cycles.as_deref().map_or(0, |cycles| *cycles)
    }
}

/// What a load/store unit needs to know about its SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Warp slots of the SM, at most 64.
    pub warp_slots: usize,
    /// GPU-wide number of the SM's warp slot 0; the layout of local memory depends on it.
    pub first_warp: u64,
    /// Size of the SM's shared memory in bytes.
    pub shared_bytes: u32,
}

/// Room for instructions in flight that occupy neither the front nor the L1D: those in the pipelines of shared
/// memory, the constant cache and the texture unit, those held back by a fence, and those on their way to write-back.
const REST: usize = 512;

impl LsuConfig {
    /// Upper bound on instructions in flight: the front, one per access at the L1D, and a fixed allowance for the
    /// rest.
    pub fn most_instructions(&self) -> usize {
        *self.queue as usize + *self.accesses as usize + REST
    }

    /// The banks that words of global memory pass, if any.
    pub fn global_banks(&self) -> Option<Banks> {
        self.global_in_banks.as_deref().is_some_and(|passes| *passes).then(|| self.shared.banks())
    }

    /// Whether parameters, constants and texels are loads of global memory.
    pub fn loads_read_only_as_global(&self) -> bool {
        self.read_only.as_deref() == Some(&ReadOnlyWay::AsGlobal)
    }

    /// Lanes whose atomics on the same address are combined.
    pub fn combining_lanes(&self) -> u32 {
        self.atomic_combining_lanes.as_deref().map_or(1, |lanes| *lanes)
    }

    /// Checks every parameter against its range.
    ///
    /// # Errors
    /// Returns a sentence that names the first field out of range, its value and the accepted values.
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
        in_range("atomic_combining_lanes", self.combining_lanes(), 1, WARP_LANES as u32)?;
        in_range("shared.banks", *self.shared.banks, 1, 64)?;
        in_range("shared.bank_bytes", *self.shared.bank_bytes, 4, 16)?;
        in_range("shared.latency_cycles", *self.shared.latency_cycles, 1, 1024)?;
        in_range("shared.remote_latency_cycles", self.shared.remote_latency(), 0, 4096)?;
        in_range("texture.lanes_per_cycle", *self.texture.lanes_per_cycle, 1, 32)?;
        in_range("texture.texels_per_cycle", *self.texture.texels_per_cycle, 1, 8)?;
        in_range("texture.filter_latency_cycles", *self.texture.filter_latency_cycles, 1, 1024)?;
        in_range("texture.point_latency_cycles", self.texture.point_latency(), 1, 1024)?;
        for (name, value) in [
            ("segment_bytes", *self.segment_bytes),
            ("atomic_combining_lanes", self.combining_lanes()),
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
