//! Parameters of the CPU cores.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::Cited;
use strata_sm::lsu::{LsuConfig, ScratchpadConfig, TextureConfig};

/// How a core executes instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoreModel {
    /// In order, one instruction a cycle, blocked by each value from memory.
    InOrder,
}

/// The `cpu` section of a machine file. Cycles are the core's.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuConfig {
    /// Number of cores, all alike; each has a node of the network and an L1D.
    #[schemars(range(min = 1, max = 1024), extend("unit" = "cores"))]
    pub cores: Cited<u16>,
    /// Clock of the cores and their L1Ds in MHz.
    #[schemars(range(min = 1, max = 100000), extend("unit" = "MHz"))]
    pub clock_mhz: Cited<u32>,
    /// How a core executes instructions.
    pub model: Cited<CoreModel>,
    /// Stores that wait until the L1D takes them. A load takes an entry too.
    #[schemars(range(min = 1, max = 256), extend("unit" = "stores"))]
    pub store_buffer: Cited<u32>,
    /// Cycles from the issue of a load or store to its access of the L1D.
    #[schemars(range(min = 1, max = 1024), extend("unit" = "cycles"))]
    pub address_latency_cycles: Cited<u32>,
    /// The L1D of each core; without this section, the design and the parameters of the SMs' L1Ds. It is read separately, as a
    /// door; this placeholder lets errors about unknown keys list it.
    #[serde(default, rename = "l1d")]
    #[schemars(skip)]
    _l1d: PhantomData<()>,
}

impl CpuConfig {
    /// Parameters of the crate's tests.
    #[cfg(test)]
    pub(crate) fn new(
        cores: u16,
        clock_mhz: u32,
        model: CoreModel,
        store_buffer: u32,
        address_latency: u32,
    ) -> Self {
        let cited = |value| Cited::new(value, "a test");
        CpuConfig {
            cores: Cited::new(cores, "a test"),
            clock_mhz: cited(clock_mhz),
            model: Cited::new(model, "a test"),
            store_buffer: cited(store_buffer),
            address_latency_cycles: cited(address_latency),
            _l1d: PhantomData,
        }
    }

    /// Checks every parameter against its range.
    ///
    /// # Errors
    /// Names the first field out of range, what was found and what was expected.
    pub fn check(&self) -> Result<(), String> {
        let within = |field: &str, value: u32, least: u32, most: u32| {
            (least..=most)
                .contains(&value)
                .then_some(())
                .ok_or_else(|| format!("{field}: found {value}, expected {least} to {most}"))
        };
        within("cores", u32::from(*self.cores), 1, 1024)?;
        within("clock_mhz", *self.clock_mhz, 1, 100_000)?;
        within("store_buffer", *self.store_buffer, 1, 256)?;
        within("address_latency_cycles", *self.address_latency_cycles, 1, 1024)
    }

    /// The load/store unit of a core. What a core has no use for is as small as there is.
    pub fn lsu(&self) -> LsuConfig {
        let smallest = |value| Cited::new(value, "ASSUMED: a CPU core does not use it");
        let lsu = |value, source: &str| Cited::new(value, source);
        LsuConfig {
            queue: self.store_buffer.clone(),
            accesses: lsu(*self.store_buffer + 1, "ASSUMED: what the store buffer holds, and one at the L1D"),
            address_latency_cycles: self.address_latency_cycles.clone(),
            writeback_latency_cycles: lsu(0, "ASSUMED: loaded values are forwarded"),
            segment_bytes: lsu(128, "ASSUMED: nothing to coalesce"),
            atomic_combining_lanes: None,
            global_in_banks: None,
            read_only: None,
            shared: ScratchpadConfig {
                banks: smallest(1),
                bank_bytes: smallest(4),
                latency_cycles: smallest(1),
                pairs_together: None,
                conflict_free: None,
                remote_latency_cycles: None,
            },
            texture: TextureConfig {
                lanes_per_cycle: smallest(1),
                texels_per_cycle: smallest(1),
                filter_latency_cycles: smallest(1),
                point_latency_cycles: None,
            },
        }
    }
}
