//! How many of each part a machine has, and how fast they run.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::{Cited, ClockRatio};
use strata_memory::interleave::InterleaveHash;
use strata_memory::policy::Chosen;
use strata_memory::{AddressMap, NodeId, ParameterError};
use strata_sm::dispatch::DispatchPolicy;

/// Clock frequencies in MHz.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// Clock of the SMs and the CTA dispatcher, in MHz; the reference clock.
    #[schemars(range(min = 1, max = Clocks::MOST_MHZ), extend("unit" = "MHz"))]
    pub core_mhz: Cited<u32>,
    /// Clock of the network in MHz; without it, the core clock.
    #[schemars(range(min = 1, max = Clocks::MOST_MHZ), extend("unit" = "MHz"))]
    pub network_mhz: Option<Cited<u32>>,
    /// Clock of the LLC slices, and of what stands beside them up to the DRAM channel, in MHz; without it, the core clock.
    #[schemars(range(min = 1, max = Clocks::MOST_MHZ), extend("unit" = "MHz"))]
    pub l2_mhz: Option<Cited<u32>>,
    /// DRAM command clock in MHz.
    #[schemars(range(min = 1, max = Clocks::MOST_MHZ), extend("unit" = "MHz"))]
    pub dram_mhz: Cited<u32>,
}

impl Clocks {
    /// The highest frequency, in MHz. ASSUMED: far above any GPU.
    const MOST_MHZ: u32 = 100_000;

    /// Checks that every clock runs, and not beyond reason.
    ///
    /// # Errors
    /// The field, what was found and what was expected.
    pub fn check(&self) -> Result<(), String> {
        let clocks = [
            ("core_mhz", Some(&self.core_mhz)),
            ("network_mhz", self.network_mhz.as_ref()),
            ("l2_mhz", self.l2_mhz.as_ref()),
            ("dram_mhz", Some(&self.dram_mhz)),
        ];
        for (field, mhz) in clocks {
            if let Some(mhz) = mhz.filter(|mhz| !(1..=Self::MOST_MHZ).contains(&***mhz)) {
                return Err(format!("clocks.{field}: found {}, expected 1 to {}", **mhz, Self::MOST_MHZ));
            }
        }
        Ok(())
    }

    /// The network's clock, by its ratio to the core clock. The clocks have been checked, here and below.
    pub fn network(&self) -> ClockRatio {
        self.ratio(self.network_mhz.as_ref())
    }

    /// The LLC's clock, by its ratio to the core clock.
    pub fn l2(&self) -> ClockRatio {
        self.ratio(self.l2_mhz.as_ref())
    }

    /// A clock of so many MHz, by its ratio to the core clock.
    pub fn of(&self, mhz: &Cited<u32>) -> ClockRatio {
        self.ratio(Some(mhz))
    }

    /// The DRAM command clock, by its ratio to the LLC's clock, in whose cycles a partition runs.
    pub fn dram_over_l2(&self) -> ClockRatio {
        self.ratio(Some(&self.dram_mhz)).over(self.l2())
    }

    fn ratio(&self, mhz: Option<&Cited<u32>>) -> ClockRatio {
        let mhz = mhz.unwrap_or(&self.core_mhz);
        ClockRatio::of(u64::from(**mhz), u64::from(*self.core_mhz)).expect("clocks were checked to run")
    }
}

/// Numbers of SMs, channels and slices, and memory layout.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuConfig {
    /// SMs of the GPU, those in cache mode and those without power included.
    #[schemars(range(min = 1, max = 1024), extend("unit" = "SMs"))]
    pub sms: Cited<u16>,
    /// SMs in cache mode: they run no programs, but the kernel of the LLC design, which keeps blocks in their storage. They
    /// come after those that run programs. Without this key, none.
    #[schemars(range(min = 0), extend("unit" = "SMs"))]
    pub cache_sms: Option<Cited<u16>>,
    /// SMs without power, the last ones: they do nothing and leak nothing. Without this key, none.
    #[schemars(range(min = 0), extend("unit" = "SMs"))]
    pub gated_sms: Option<Cited<u16>>,
    /// Number of DRAM channels; each belongs to one memory partition.
    #[schemars(range(min = 1, max = 256), extend("unit" = "channels"))]
    pub channels: Cited<u16>,
    /// LLC slices in front of each DRAM channel.
    #[schemars(range(min = 1, max = 64), extend("unit" = "slices"))]
    pub slices_per_channel: Cited<u16>,
    /// Consecutive bytes of device memory in one slice.
    #[schemars(range(min = 128, max = 1 << 20), extend("unit" = "B"))]
    pub interleave_bytes: Cited<u32>,
    /// How the slice depends on higher bits of the address too; without this key it does not. For a power of two of slices.
    #[serde(default)]
    pub interleave_hash: Option<Cited<InterleaveHash>>,
    /// Device memory that programs can allocate, in MiB.
    #[schemars(range(min = 16, max = 1 << 18), extend("unit" = "MiB"))]
    pub memory_mib: Cited<u64>,
    /// Which SM the next CTA of a grid goes to; without this key `round-robin`.
    #[serde(default)]
    pub dispatch: Option<Cited<Chosen<dyn DispatchPolicy>>>,
    /// Cycles for a command from the CTA dispatcher to an SM, and for a notice back.
    #[schemars(range(min = 1, max = 10000), extend("unit" = "cycles"))]
    pub dispatch_latency_cycles: Cited<u64>,
    /// Cycles from a launch to its first CTA. Without this key, none.
    #[schemars(range(min = 0), extend("unit" = "cycles"))]
    pub launch_latency_cycles: Option<Cited<u64>>,
    /// The least cycles between the first CTAs of two launches that the host hands over without waiting between them: the later
    /// one's latency passes while the earlier one runs. Without this key, launches do not overlap.
    #[schemars(range(min = 0), extend("unit" = "cycles"))]
    pub launch_interval_cycles: Option<Cited<u64>>,
    /// Cycles without progress after which the watchdog stops a run.
    #[schemars(range(min = 1000, max = 1_u64 << 40), extend("unit" = "cycles"))]
    pub watchdog_cycles: Cited<u64>,
}

impl GpuConfig {
    /// The map from device addresses to slices and channels, of which `first_slice` is the first slice's node.
    ///
    /// # Errors
    /// Names a count, a size or a hash that no map can have.
    pub fn address_map(&self, first_slice: NodeId) -> Result<AddressMap, ParameterError> {
        let map =
            AddressMap::new(*self.channels, *self.slices_per_channel, *self.interleave_bytes, first_slice)?;
        match &self.interleave_hash {
            Some(hash) => map.with_hash(hash),
            None => Ok(map),
        }
    }

    /// The SMs that run programs: the first ones.
    pub fn compute_sms(&self) -> Range<usize> {
        0..usize::from(*self.sms).saturating_sub(self.cache_sms() + self.gated_sms())
    }

    /// The SMs in cache mode.
    pub fn helper_sms(&self) -> Range<usize> {
        let first = self.compute_sms().end;
        first..first + self.cache_sms()
    }

    /// Number of SMs with power.
    pub fn powered_sms(&self) -> usize {
        self.helper_sms().end
    }

    /// Cycles from a launch to its first CTA.
    pub fn launch_latency(&self) -> u64 {
        self.launch_latency_cycles.as_ref().map_or(0, |cycles| **cycles)
    }

    /// The least cycles between the first CTAs of launches that overlap; `None` if none do.
    pub fn launch_interval(&self) -> Option<u64> {
        self.launch_interval_cycles.as_ref().map(|cycles| **cycles)
    }

    fn cache_sms(&self) -> usize {
        self.cache_sms.as_ref().map_or(0, |count| usize::from(**count))
    }

    fn gated_sms(&self) -> usize {
        self.gated_sms.as_ref().map_or(0, |count| usize::from(**count))
    }

    /// Some SM runs programs.
    ///
    /// # Errors
    /// The field, what was found and what was expected.
    pub fn check_modes(&self) -> Result<(), String> {
        let (sms, cache, gated) = (usize::from(*self.sms), self.cache_sms(), self.gated_sms());
        if cache + gated < sms {
            return Ok(());
        }
        let field = if cache >= sms { "cache_sms" } else { "gated_sms" };
        let (found, rest) = if cache >= sms { (cache, sms - 1) } else { (gated, sms - 1 - cache) };
        Err(format!(
            "gpu.{field}: found {found}, expected at most {rest}: some of the {sms} SMs run programs"
        ))
    }
}
