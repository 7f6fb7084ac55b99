//! The machine file: every number of a machine, each with its source.

use std::marker::PhantomData;
use std::ops::Deref;
use std::path::Path;

use serde::Deserialize;
use strata_engine::Cited;
use strata_engine::config::{ConfigError, Document};
use strata_memory::dram::DramParameters;
use strata_memory::read_only::ReadOnlyConfig;
use strata_sm::config::SmConfig;
use strata_sm::lsu::LsuConfig;

use super::doors::Doors;
use super::endurance::EnduranceSection;
use super::size;
use crate::energy::EnergySection;

/// A machine file's contents: sections that every machine has, and the designs behind its doors.
#[derive(Clone, Debug)]
pub struct MachineFile {
    /// What every machine has.
    pub sections: Sections,
    /// What stands behind its doors.
    pub doors: Doors,
}

impl Deref for MachineFile {
    type Target = Sections;
    fn deref(&self) -> &Sections {
        &self.sections
    }
}

/// The sections that every machine has.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sections {
    /// Its name in results.
    pub name: String,
    /// One sentence.
    pub description: String,
    /// Frequencies.
    pub clocks: Clocks,
    /// What there is of each.
    pub gpu: GpuConfig,
    /// An SM.
    pub sm: SmConfig,
    /// Its load/store unit.
    pub lsu: LsuConfig,
    /// Doors, taken out before: errors name them among the sections that there are.
    #[serde(default, rename = "l1d")]
    _l1d: PhantomData<()>,
    /// Its instruction cache.
    pub instruction_cache: ReadOnlyConfig,
    /// Its constant cache.
    pub constant_cache: ReadOnlyConfig,
    #[serde(default, rename = "network")]
    _network: PhantomData<()>,
    #[serde(default, rename = "llc")]
    _llc: PhantomData<()>,
    /// A DRAM channel.
    pub dram: DramParameters,
    /// What events cost and what leaks, by structure; without it, no energy is reported.
    pub energy: Option<EnergySection>,
    /// Arrays whose cells wear out, by structure.
    #[serde(default)]
    pub endurance: EnduranceSection,
}

/// Frequencies in MHz.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// SMs, network and LLC: the reference clock.
    pub core_mhz: Cited<u32>,
    /// DRAM command clock.
    pub dram_mhz: Cited<u32>,
}

/// What there is of each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuConfig {
    /// SMs.
    pub sms: Cited<u16>,
    /// DRAM channels; each is a memory partition.
    pub channels: Cited<u16>,
    /// LLC slices in front of each channel.
    pub slices_per_channel: Cited<u16>,
    /// Consecutive bytes of device memory in one slice.
    pub interleave_bytes: Cited<u32>,
    /// Device memory in MiB.
    pub memory_mib: Cited<u64>,
    /// Cycles that a command takes from the CTA dispatcher to an SM, and a notice back.
    pub dispatch_latency_cycles: Cited<u64>,
    /// Cycles without any movement after which the watchdog stops a run.
    pub watchdog_cycles: Cited<u64>,
}

impl MachineFile {
    /// Reads a machine file; `file` is named in errors.
    ///
    /// # Errors
    /// What is wrong with it, with line and column where known.
    pub fn parse(file: &Path, text: &str) -> Result<MachineFile, ConfigError> {
        let mut document = Document::parse(file, text)?;
        let doors = Doors::take(&mut document);
        let sections = document.read()?;
        Ok(MachineFile { sections, doors: doors? })
    }

    /// Checks what the types cannot say. The error names section and field.
    pub fn check(&self) -> Result<(), String> {
        let section = |name: &'static str| move |error: String| format!("{name}: {error}");
        let within = |field: &str, value: u64, least: u64, most: u64| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(format!("{field}: found {value}, expected {least} to {most}"))
            }
        };
        within("clocks.core_mhz", u64::from(*self.clocks.core_mhz), 1, 100_000)?;
        within("clocks.dram_mhz", u64::from(*self.clocks.dram_mhz), 1, 100_000)?;
        within("gpu.sms", u64::from(*self.gpu.sms), 1, 1024)?;
        within("gpu.channels", u64::from(*self.gpu.channels), 1, 256)?;
        within("gpu.slices_per_channel", u64::from(*self.gpu.slices_per_channel), 1, 64)?;
        within("gpu.interleave_bytes", u64::from(*self.gpu.interleave_bytes), 128, 1 << 20)?;
        within("gpu.memory_mib", *self.gpu.memory_mib, 16, 1 << 18)?;
        within("gpu.dispatch_latency_cycles", *self.gpu.dispatch_latency_cycles, 1, 10_000)?;
        within("gpu.watchdog_cycles", *self.gpu.watchdog_cycles, 1_000, 1 << 40)?;
        self.sm.check()?;
        self.lsu.check().map_err(section("lsu"))?;
        self.doors.check()?;
        self.instruction_cache.check().map_err(|error| format!("instruction_cache: {error}"))?;
        self.constant_cache.check().map_err(|error| format!("constant_cache: {error}"))?;
        self.dram.check().map_err(|error| format!("dram: {error}"))?;
        for (name, structure) in self.energy.iter().flatten() {
            structure.check().map_err(|error| format!("energy.{name}.{error}"))?;
        }
        for (name, array) in &self.endurance {
            array.check().map_err(|error| format!("endurance.{name}.{error}"))?;
        }
        let bytes = size::host_bytes(self);
        if bytes > size::MOST_BYTES {
            return Err(format!(
                "the machine takes {} MiB of this host beside device memory, expected at most {}",
                bytes >> 20,
                size::MOST_BYTES >> 20
            ));
        }
        Ok(())
    }

    /// An upper bound of the bytes of this host that it takes beside device memory; its numbers have been checked.
    pub fn host_bytes(&self) -> u64 {
        size::host_bytes(self)
    }

    /// The smallest latency between islands: the longest window.
    pub fn window(&self) -> u64 {
        self.doors.network.link_latency_cycles().min(*self.gpu.dispatch_latency_cycles)
    }
}
