//! Parameters of address translation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;

use crate::address::LINE_BYTES;
use crate::parameters::ParameterError;
use crate::policy::Chosen;
use crate::replacement::ReplacementPolicy;
use crate::tags::{Geometry, MAX_FRAMES, SetIndex};

/// Most pages that the SMs of one GMMU may wait for together, which is also the most walks that wait.
const MOST_WAITING: u64 = 0xffff;

/// The parameters of address translation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranslationConfig {
    /// Bytes of a page, a power of two.
    #[schemars(range(min = 4096, max = 1_u64 << 30), extend("unit" = "B"))]
    pub page_bytes: Cited<u64>,
    /// The first-level TLB of each SM.
    pub l1_tlb: FirstTlbConfig,
    /// A second level in each SM. Without it, what misses the first level goes to the GMMU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2_tlb: Option<SecondTlbConfig>,
    /// What SMs share: a TLB, and the walkers of page tables.
    pub gmmu: GmmuConfig,
}

/// The parameters of an SM's first-level TLB.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstTlbConfig {
    /// Sets of the TLB; times `ways`, its pages.
    #[schemars(range(min = 1, max = MAX_FRAMES), extend("unit" = "sets"))]
    pub sets: Cited<usize>,
    /// Ways of each set: pages with the same index that it holds at a time.
    #[schemars(range(min = 1, max = 64), extend("unit" = "ways"))]
    pub ways: Cited<usize>,
    /// How the set of a page is computed from its number.
    pub set_index: Cited<SetIndex>,
    /// Which way of a full set is evicted.
    pub replacement: Cited<Chosen<dyn ReplacementPolicy>>,
    /// Cycles that a look-up that hits adds to a packet's way; 0 where it is part of the L1D's latency.
    #[schemars(range(min = 0, max = 4096), extend("unit" = "cycles"))]
    pub hit_latency_cycles: Cited<u64>,
    /// Number of pages that can be waited for at a time.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "pages"))]
    pub mshr_entries: Cited<usize>,
    /// Number of packets that can wait for their page.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "packets"))]
    pub queue: Cited<u16>,
}

/// The parameters of an SM's second-level TLB.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecondTlbConfig {
    /// Sets of the TLB; times `ways`, its pages.
    #[schemars(range(min = 1, max = MAX_FRAMES), extend("unit" = "sets"))]
    pub sets: Cited<usize>,
    /// Ways of each set: pages with the same index that it holds at a time.
    #[schemars(range(min = 1, max = 64), extend("unit" = "ways"))]
    pub ways: Cited<usize>,
    /// How the set of a page is computed from its number.
    pub set_index: Cited<SetIndex>,
    /// Which way of a full set is evicted.
    pub replacement: Cited<Chosen<dyn ReplacementPolicy>>,
    /// Cycles from a miss of the first level to the page, or to the request for it.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub hit_latency_cycles: Cited<u64>,
}

/// The parameters of a GPU memory management unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GmmuConfig {
    /// GMMUs of the GPU, each of which serves as many consecutive SMs as the others or one fewer. Without this key, one for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024), extend("unit" = "GMMUs"))]
    pub units: Option<Cited<u16>>,
    /// Cycles for a request from an SM, and for a reply back.
    #[schemars(range(min = 1, max = 10000), extend("unit" = "cycles"))]
    pub link_latency_cycles: Cited<u64>,
    /// Sets of the GMMU's TLB; times `ways`, its pages.
    #[schemars(range(min = 1, max = MAX_FRAMES), extend("unit" = "sets"))]
    pub sets: Cited<usize>,
    /// Ways of each set: pages with the same index that it holds at a time.
    #[schemars(range(min = 1, max = 64), extend("unit" = "ways"))]
    pub ways: Cited<usize>,
    /// How the set of a page is computed from its number.
    pub set_index: Cited<SetIndex>,
    /// Which way of a full set is evicted.
    pub replacement: Cited<Chosen<dyn ReplacementPolicy>>,
    /// Cycles from the start of a look-up to the reply or the walk. One look-up starts in a cycle.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub hit_latency_cycles: Cited<u64>,
    /// Number of page walks at a time.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "walks"))]
    pub walkers: Cited<usize>,
    /// Levels of the page table that a walk reads, one after the other.
    #[schemars(range(min = 1, max = 6), extend("unit" = "levels"))]
    pub levels: Cited<u32>,
}

impl TranslationConfig {
    /// Checks that the TLBs and the GMMUs can be built, for so many SMs.
    ///
    /// # Errors
    /// Names the first wrong key.
    pub fn check(&self, sms: u16) -> Result<(), String> {
        let bytes = *self.page_bytes;
        if !bytes.is_power_of_two() || !(4096..=1 << 30).contains(&bytes) {
            return Err(format!("page_bytes: found {bytes}, expected a power of two from 4096 to 2^30"));
        }
        let within = |key: &str, value: u64, least: u64, most: u64| match (least..=most).contains(&value) {
            true => Ok(()),
            false => Err(format!("{key}: found {value}, expected {least} to {most}")),
        };
        let of = |tlb: &'static str| move |error: ParameterError| format!("{tlb}.{error}");
        let FirstTlbConfig { hit_latency_cycles, mshr_entries, queue, .. } = &self.l1_tlb;
        self.l1_tlb.geometry().check().map_err(of("l1_tlb"))?;
        within("l1_tlb.hit_latency_cycles", **hit_latency_cycles, 0, 4096)?;
        within("l1_tlb.mshr_entries", **mshr_entries as u64, 1, 4096)?;
        within("l1_tlb.queue", u64::from(**queue), 1, 4096)?;
        if let Some(l2_tlb) = &self.l2_tlb {
            l2_tlb.geometry().check().map_err(of("l2_tlb"))?;
            within("l2_tlb.hit_latency_cycles", *l2_tlb.hit_latency_cycles, 1, 4096)?;
        }
        let gmmu = &self.gmmu;
        gmmu.geometry().check().map_err(of("gmmu"))?;
        within("gmmu.units", u64::from(gmmu.units()), 1, u64::from(sms))?;
        within("gmmu.link_latency_cycles", *gmmu.link_latency_cycles, 1, 10_000)?;
        within("gmmu.hit_latency_cycles", *gmmu.hit_latency_cycles, 1, 4096)?;
        within("gmmu.walkers", *gmmu.walkers as u64, 1, 4096)?;
        within("gmmu.levels", u64::from(*gmmu.levels), 1, 6)?;
        let served = u64::from(sms.div_ceil(gmmu.units()));
        let most = MOST_WAITING / served;
        if **mshr_entries as u64 > most {
            return Err(format!(
                "l1_tlb.mshr_entries: found {}, expected at most {most} for {served} SMs of a GMMU",
                **mshr_entries
            ));
        }
        Ok(())
    }

    /// Binary logarithm of the lines of a page.
    pub(super) fn page_shift(&self) -> u32 {
        (*self.page_bytes / LINE_BYTES as u64).trailing_zeros()
    }

    /// Frames of all TLBs, of each SM and of each GMMU, for bounds of host memory.
    pub fn frames(&self) -> (u64, u64) {
        let of = |geometry: Geometry| (geometry.sets * geometry.ways) as u64;
        let second = self.l2_tlb.as_ref().map_or(0, |tlb| of(tlb.geometry()));
        (of(self.l1_tlb.geometry()) + second, of(self.gmmu.geometry()))
    }
}

impl FirstTlbConfig {
    pub(super) fn geometry(&self) -> Geometry {
        geometry(&self.sets, &self.ways, &self.set_index, &self.replacement)
    }
}

impl SecondTlbConfig {
    pub(super) fn geometry(&self) -> Geometry {
        geometry(&self.sets, &self.ways, &self.set_index, &self.replacement)
    }
}

impl GmmuConfig {
    pub(super) fn geometry(&self) -> Geometry {
        geometry(&self.sets, &self.ways, &self.set_index, &self.replacement)
    }

    /// Number of GMMUs.
    pub fn units(&self) -> u16 {
        self.units.as_ref().map_or(1, |units| **units)
    }
}

fn geometry(
    sets: &Cited<usize>,
    ways: &Cited<usize>,
    index: &Cited<SetIndex>,
    replacement: &Cited<Chosen<dyn ReplacementPolicy>>,
) -> Geometry {
    Geometry { sets: **sets, ways: **ways, index: **index, replacement: replacement.value.clone() }
}
