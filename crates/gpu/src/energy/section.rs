//! The `energy` section of a machine file.

use std::collections::BTreeMap;

use serde::Deserialize;
use strata_engine::Cited;

use crate::machine::MachineFile;

/// The `energy` section: structures by name.
pub type EnergySection = BTreeMap<String, StructureSection>;

/// What a structure's events cost and what it leaks: `[energy.<structure>]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StructureSection {
    /// What there is one of it for.
    pub per: Per,
    /// The door behind which it stands: a system that replaces the design there replaces the energy too.
    pub door: Option<String>,
    /// Whether it serves requests that have left the SM: network, LLC, DRAM.
    #[serde(default)]
    pub off_chip: bool,
    /// Milliwatts that each instance takes whatever it does, by part.
    #[serde(default)]
    pub leakage_mw: BTreeMap<String, Cited<f64>>,
    /// Picojoules of one event, by the statistics group and name of its counter.
    #[serde(default)]
    pub pj: BTreeMap<String, BTreeMap<String, Cited<f64>>>,
}

/// What there is one instance of a structure for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// Each SM has one.
    Sm,
    /// Each LLC slice has one.
    Slice,
    /// Each DRAM channel has one.
    Channel,
    /// There is one.
    Gpu,
}

impl Per {
    /// How many instances a machine has.
    pub fn instances(self, machine: &MachineFile) -> u64 {
        let gpu = &machine.gpu;
        match self {
            Per::Sm => u64::from(*gpu.sms),
            Per::Slice => u64::from(*gpu.channels) * u64::from(*gpu.slices_per_channel),
            Per::Channel => u64::from(*gpu.channels),
            Per::Gpu => 1,
        }
    }

    /// As a file writes it.
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
    /// Finds numbers that cannot be. The error names the key.
    pub(crate) fn check(&self) -> Result<(), String> {
        let leakage = ("leakage_mw".to_owned(), &self.leakage_mw);
        let events = self.pj.iter().map(|(group, events)| (format!("pj.{group}"), events));
        for (table, values) in std::iter::once(leakage).chain(events) {
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
