//! How many of each part a machine has, and how fast they run.

use serde::Deserialize;
use strata_engine::Cited;

/// Clock frequencies in MHz.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// Clock of the SMs, the network and the LLC, in MHz; the reference clock.
    pub core_mhz: Cited<u32>,
    /// DRAM command clock in MHz.
    pub dram_mhz: Cited<u32>,
}

/// Numbers of SMs, channels and slices, and memory layout.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuConfig {
    /// Number of SMs.
    pub sms: Cited<u16>,
    /// Number of DRAM channels; each belongs to one memory partition.
    pub channels: Cited<u16>,
    /// LLC slices in front of each DRAM channel.
    pub slices_per_channel: Cited<u16>,
    /// Consecutive bytes of device memory in one slice.
    pub interleave_bytes: Cited<u32>,
    /// Size of device memory in MiB.
    pub memory_mib: Cited<u64>,
    /// Cycles for a command from the CTA dispatcher to an SM, and for a notice back.
    pub dispatch_latency_cycles: Cited<u64>,
    /// Cycles without progress after which the watchdog stops a run.
    pub watchdog_cycles: Cited<u64>,
}
