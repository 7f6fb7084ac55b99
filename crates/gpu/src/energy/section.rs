//! The `energy` section of a machine file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::Cited;

use crate::machine::GpuConfig;

/// The `energy` section: structures by name.
pub type EnergySection = BTreeMap<String, StructureSection>;

/// A structure's energy per event and its leakage: `[energy.<structure>]`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StructureSection {
    /// How many instances of the structure a machine has.
    pub per: Per,
    /// The door behind which the structure stands. A system that replaces the design there also replaces its
    /// energies.
    pub door: Option<String>,
    /// Whether the structure serves requests that have left the SM: network, LLC, DRAM.
    #[serde(default)]
    pub off_chip: bool,
    /// Leakage of a part of each instance, in milliwatts.
    #[serde(default)]
    #[schemars(extend("unit" = "mW", "minimum" = 0))]
    pub leakage_mw: BTreeMap<String, Cited<f64>>,
    /// Area of a part of each instance, in square micrometres; no energy follows from it.
    #[serde(default)]
    #[schemars(extend("unit" = "um^2", "minimum" = 0))]
    pub area_um2: BTreeMap<String, Cited<f64>>,
    /// Energy of one event in picojoules, by the statistics group and the name of the counter that counts it.
    #[serde(default)]
    #[schemars(extend("unit" = "pJ", "minimum" = 0))]
    pub pj: BTreeMap<String, BTreeMap<String, Cited<f64>>>,
}

/// What a structure has one instance for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// One instance in each SM that has power.
    Sm,
    /// One instance in each LLC slice.
    Slice,
    /// One instance in each DRAM channel.
    Channel,
    /// One instance in the GPU.
    Gpu,
}

impl Per {
    /// Number of instances in a machine.
    pub fn instances(self, gpu: &GpuConfig) -> u64 {
        match self {
            Per::Sm => gpu.powered_sms() as u64,
            Per::Slice => u64::from(*gpu.channels) * u64::from(*gpu.slices_per_channel),
            Per::Channel => u64::from(*gpu.channels),
            Per::Gpu => 1,
        }
    }

    /// The name as written in a machine file.
    pub const fn name(self) -> &'static str {
        match self {
            Per::Sm => "sm",
            Per::Slice => "slice",
            Per::Channel => "channel",
            Per::Gpu => "gpu",
        }
    }
}

impl StructureSection {
    /// The area of all instances in a machine; `None` if none is given.
    pub fn all_area_um2(&self, gpu: &GpuConfig) -> Option<f64> {
        let parts = self.area_um2.values().map(|part| **part);
        (!self.area_um2.is_empty()).then(|| parts.sum::<f64>() * self.per.instances(gpu) as f64)
    }

    /// Refuses impossible numbers. The error names the key.
    pub(crate) fn check(&self) -> Result<(), String> {
        let leakage = ("leakage_mw".to_owned(), &self.leakage_mw);
        let area = ("area_um2".to_owned(), &self.area_um2);
        let events = self.pj.iter().map(|(group, events)| (format!("pj.{group}"), events));
        for (table, values) in [leakage, area].into_iter().chain(events) {
            for (key, cited) in values {
                if !cited.value.is_finite() || cited.value < 0.0 {
                    return Err(format!("{table}.{key}: found {}, expected a number from 0 on", cited.value));
                }
                if cited.source.trim().is_empty() {
                    return Err(format!("{table}.{key}: found no source, expected one, or `ASSUMED: why`"));
                }
            }
        }
        Ok(())
    }
}
