//! The parameters of the register files. Every system of the paper's evaluation is one set of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::ParameterError;
use strata_memory::area::Component;
use strata_memory::doors::{OperandAccesses, WideAccesses};

use super::layout::ROW_BITS;
use super::register_cache::CacheIndex;
use super::wear_levelling::WearLevelling;

/// The parameters of a register file of banks alone: SRAM, and STT-MRAM without additional techniques.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BankedConfig {
    /// The banks.
    pub banks: BanksConfig,
    /// Which access a free group of banks takes first.
    pub arbitration: Cited<Arbitration>,
    /// What becomes of a write whose banks are busy; it stalls when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_backs: Option<Cited<WriteBacks>>,
    /// What a write of some lanes of a row activates; the banks of these lanes when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_writes: Option<Cited<PartialWrites>>,
    /// What registers operands access: their rows when absent. Otherwise the values lie beside the register file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accesses: Option<AccessesConfig>,
    /// Areas in square micrometres, where a source gives them.
    #[serde(default)]
    pub area_um2: AreaConfig,
}

/// The parameters of a register file whose rows lie compressed in its banks, behind buffers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HierarchicalConfig {
    /// The banks; a read's latency includes that of the decompression unit.
    pub banks: BanksConfig,
    /// The compression unit.
    pub compression: CompressionConfig,
    /// Where in its group of banks a row's next value begins.
    pub wear_levelling: Cited<WearLevelling>,
    /// What becomes of a warp's rows above the banks when it ends.
    pub dead_rows: Cited<DeadRows>,
    /// What becomes of a write when another has the port in that cycle; it stalls when absent. A full buffer refuses
    /// in any case: the rows have values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_backs: Option<Cited<WriteBacks>>,
    /// The register cache, in front of a delay buffer.
    pub register_cache: Option<RegisterCacheConfig>,
    /// The delay buffer between register cache and banks.
    pub delay_buffer: Option<BufferConfig>,
    /// The central write buffer, in place of register cache and delay buffer.
    pub write_buffer: Option<BufferConfig>,
    /// What registers operands access: their rows when absent. Otherwise the values lie beside the register file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accesses: Option<AccessesConfig>,
    /// Areas in square micrometres, where a source gives them.
    #[serde(default)]
    pub area_um2: AreaConfig,
}

/// What registers the operands of an instruction access. GPGPU-Sim 3.2.2 (`cuda-sim.cc`, 2013, `ptx_instruction::pre_decode`) has
/// one register for an operand of any width, and one for a predicate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessesConfig {
    /// What a value of more than 32 bits accesses; each of its rows when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wide: Option<Cited<WideAccesses>>,
    /// Whether predicates that an instruction writes, or reads as operands, are accesses, numbered behind the registers;
    /// false when absent. Guards are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicates: Option<Cited<bool>>,
}

impl AccessesConfig {
    /// The rules, by default those of rows.
    pub(super) fn rules(of: Option<&AccessesConfig>) -> OperandAccesses {
        of.map_or_else(OperandAccesses::default, |of| OperandAccesses {
            wide: of.wide.as_deref().map_or_else(WideAccesses::default, |wide| *wide),
            predicates: of.predicates.as_deref().is_some_and(|are| *are),
        })
    }
}

/// The parameters of the banks. A row lies across as many banks as hold 1024 bits: a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BanksConfig {
    /// Number of single-ported banks.
    #[schemars(range(min = 1), extend("unit" = "banks"))]
    pub count: Cited<u32>,
    /// Width of a bank in bits: 32, 64, 128, 256, 512 or 1024.
    #[schemars(range(min = 32, max = ROW_BITS), extend("unit" = "bits"))]
    pub bits: Cited<u32>,
    /// Cycles from a read's grant to the operand in the collector.
    #[schemars(range(min = 1, max = MOST_CYCLES), extend("unit" = "cycles"))]
    pub read_latency_cycles: Cited<u32>,
    /// Cycles that a write occupies its banks.
    #[schemars(range(min = 1, max = MOST_CYCLES), extend("unit" = "cycles"))]
    pub write_cycles: Cited<u32>,
}

/// The parameters of the compression unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompressionConfig {
    /// Cycles that the compression of a row takes.
    #[schemars(range(min = 0, max = MOST_CYCLES), extend("unit" = "cycles"))]
    pub cycles: Cited<u32>,
    /// Rows whose compression can begin in a cycle.
    #[schemars(range(min = 1, max = 64), extend("unit" = "rows"))]
    pub rows_per_cycle: Cited<u32>,
}

/// The parameters of the register cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterCacheConfig {
    /// Number of lines, each of one row.
    #[schemars(range(min = 1, max = 1 << 14), extend("unit" = "lines"))]
    pub lines: Cited<u32>,
    /// Number of single-ported banks across which the lines lie.
    #[schemars(range(min = 1), extend("unit" = "banks"))]
    pub banks: Cited<u32>,
    /// How a register's line is computed.
    pub index: Cited<CacheIndex>,
    /// Bits of a register's number in the tag: a thread has at most 2 to the power of this many registers.
    #[schemars(range(min = 1, max = 8), extend("unit" = "bits"))]
    pub register_bits: Cited<u32>,
    /// Bits of a warp's number in the tag.
    #[schemars(range(min = 1, max = 8), extend("unit" = "bits"))]
    pub warp_bits: Cited<u32>,
    /// Cycles from a read's grant to the operand in the collector.
    #[schemars(range(min = 1, max = MOST_CYCLES), extend("unit" = "cycles"))]
    pub read_latency_cycles: Cited<u32>,
}

/// The parameters of a delay buffer or a central write buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferConfig {
    /// Number of rows that it holds.
    #[schemars(range(min = 1, max = 64), extend("unit" = "rows"))]
    pub entries: Cited<u32>,
    /// From this many rows on, a write begins although reads of its group wait: 0 always, more than `entries` never.
    #[schemars(range(min = 0, max = 64), extend("unit" = "rows"))]
    pub eager_from: Cited<u32>,
    /// Cycles from a read's grant to the operand in the collector.
    #[schemars(range(min = 1, max = MOST_CYCLES), extend("unit" = "cycles"))]
    pub read_latency_cycles: Cited<u32>,
}

/// The areas of a register file's parts in square micrometres.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AreaConfig {
    /// Area of all banks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "um2", "exclusiveMinimum" = 0))]
    pub banks: Option<Cited<f64>>,
    /// Area of the register cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "um2", "exclusiveMinimum" = 0))]
    pub register_cache: Option<Cited<f64>>,
    /// Area of the delay buffer or the central write buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "um2", "exclusiveMinimum" = 0))]
    pub buffer: Option<Cited<f64>>,
    /// Area of the compression and the decompression unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "um2", "exclusiveMinimum" = 0))]
    pub compression: Option<Cited<f64>>,
}

/// Which access a free group of banks takes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// A write.
    WritesFirst,
    /// A read; a write waits until no read of its group does.
    ReadsFirst,
}

/// What becomes of a write for which banks or a port are busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WriteBacks {
    /// It stays in the pipeline and is offered again.
    Stall,
    /// It is taken at once, and takes no time of the banks: GPGPU-Sim 3.2.2 ignores whether they are free
    /// (`shader.cc`, 2013, `shader_core_ctx::writeback`: "un-stallable").
    NeverStall,
}

/// What a write of some lanes of a row activates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartialWrites {
    /// The banks that hold these lanes; the energy is that of the lanes.
    ActiveLanes,
    /// All banks of the row, as a write of all lanes: GPGPU-Sim 3.2.2 counts a warp's lanes whatever its mask
    /// (`shader.cc`, 2013, `opndcoll_rfu_t::writeback`).
    WholeRow,
}

/// What becomes of an ended warp's rows above the banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeadRows {
    /// They are dropped: nothing will read them.
    Dropped,
    /// They stay until others displace them, and are then written like all.
    Written,
}

/// Most cycles of a latency.
const MOST_CYCLES: u32 = 1000;

fn within(field: &'static str, value: u32, least: u32, most: u32) -> Result<(), ParameterError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ParameterError::new(field, format!("must be {least} to {most}, found {value}")))
}

impl BanksConfig {
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        let bits = *self.bits;
        if !bits.is_power_of_two() || !(32..=ROW_BITS).contains(&bits) {
            let message = format!("must be 32, 64, 128, 256, 512 or 1024, found {bits}");
            return Err(ParameterError::new("banks.bits", message));
        }
        let per_row = ROW_BITS / bits;
        if *self.count == 0 || !self.count.is_multiple_of(per_row) || *self.count / per_row > 64 {
            let message =
                format!("must be a multiple of {per_row} up to {}, found {}", 64 * per_row, *self.count);
            return Err(ParameterError::new("banks.count", message));
        }
        within("banks.read_latency_cycles", *self.read_latency_cycles, 1, MOST_CYCLES)?;
        within("banks.write_cycles", *self.write_cycles, 1, MOST_CYCLES)
    }

    pub(super) fn outline(&self) -> String {
        format!("{} banks of {} bits", *self.count, *self.bits)
    }
}

impl AreaConfig {
    /// Name, area and the field that gives it.
    fn parts(&self) -> [(&'static str, &Option<Cited<f64>>, &'static str); 4] {
        [
            ("register file banks", &self.banks, "area_um2.banks"),
            ("register cache", &self.register_cache, "area_um2.register_cache"),
            ("register buffer", &self.buffer, "area_um2.buffer"),
            ("register compression", &self.compression, "area_um2.compression"),
        ]
    }

    pub(super) fn check(&self) -> Result<(), ParameterError> {
        for (_, area, field) in self.parts() {
            if let Some(area) = area.as_deref()
                && !(area.is_finite() && *area > 0.0)
            {
                return Err(ParameterError::new(field, format!("must be a number above 0, found {area}")));
            }
        }
        Ok(())
    }

    pub(super) fn table(&self) -> Vec<Component> {
        let parts = self.parts().into_iter();
        parts
            .filter_map(|(name, area, _)| {
                let area = area.as_ref()?;
                Some(Component::square_micrometres(name, **area, area.source.clone()))
            })
            .collect()
    }
}

impl RegisterCacheConfig {
    fn check(&self) -> Result<(), ParameterError> {
        within("register_cache.lines", *self.lines, 1, 1 << 14)?;
        within("register_cache.banks", *self.banks, 1, 64.min(*self.lines))?;
        within("register_cache.register_bits", *self.register_bits, 1, 8)?;
        within("register_cache.warp_bits", *self.warp_bits, 1, 8)?;
        within("register_cache.read_latency_cycles", *self.read_latency_cycles, 1, MOST_CYCLES)
    }
}

impl BufferConfig {
    fn check(&self, [entries, eager, latency]: [&'static str; 3]) -> Result<(), ParameterError> {
        within(entries, *self.entries, 1, 64)?;
        within(eager, *self.eager_from, 0, 64)?;
        within(latency, *self.read_latency_cycles, 1, MOST_CYCLES)
    }
}

impl HierarchicalConfig {
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        self.banks.check()?;
        self.area_um2.check()?;
        within("compression.cycles", *self.compression.cycles, 0, MOST_CYCLES)?;
        within("compression.rows_per_cycle", *self.compression.rows_per_cycle, 1, 64)?;
        self.register_cache.as_ref().map_or(Ok(()), RegisterCacheConfig::check)?;
        for (buffer, fields) in [
            (
                &self.delay_buffer,
                ["delay_buffer.entries", "delay_buffer.eager_from", "delay_buffer.read_latency_cycles"],
            ),
            (
                &self.write_buffer,
                ["write_buffer.entries", "write_buffer.eager_from", "write_buffer.read_latency_cycles"],
            ),
        ] {
            buffer.as_ref().map_or(Ok(()), |buffer| buffer.check(fields))?;
        }
        match (&self.register_cache, &self.delay_buffer, &self.write_buffer) {
            (Some(_), Some(_), None) | (None, None, Some(_)) => Ok(()),
            (cache, delay, write) => {
                let has = [("register_cache", cache.is_some()), ("delay_buffer", delay.is_some())];
                let has = has.into_iter().chain([("write_buffer", write.is_some())]);
                let found: Vec<&str> = has.filter(|(_, is)| *is).map(|(name, _)| name).collect();
                let found = if found.is_empty() { "none of them".to_owned() } else { found.join(" and ") };
                let message =
                    format!("must stand alone, or register_cache and delay_buffer together, found {found}");
                Err(ParameterError::new("write_buffer", message))
            }
        }
    }

    /// The buffer in front of the banks.
    pub(super) fn buffer(&self) -> &BufferConfig {
        let buffer = self.delay_buffer.as_ref().or(self.write_buffer.as_ref());
        buffer.expect("a checked register file has a buffer")
    }
}
