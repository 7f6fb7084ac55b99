//! The DRAM parameters of a machine file.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::Cited;

use super::pages::PagePolicy;
use super::pattern::AddressPattern;
use super::queue::MAX_QUEUE;
use super::refreshes::{AllBank, RefreshPolicy};
use super::registry::SchedulerPolicy;
use super::timing::MAX_BANKS;
use crate::address::LINE_BYTES;
use crate::parameters::ParameterError;
use crate::policy::Chosen;

/// Longest distance between two commands, in DRAM cycles. ASSUMED: far above any DRAM.
const MAX_CYCLES: u64 = 4096;
/// Longest distance between two refreshes, in DRAM cycles. ASSUMED: far above the 7.8 microseconds of any
/// DRAM.
const MAX_REFRESH_CYCLES: u64 = 1 << 20;
/// Longest controller latency in L2 cycles, and most requests waiting to be taken back.
const MAX_CONTROLLER: u64 = 1 << 16;

/// Parameters of a DRAM channel. Cycles are DRAM cycles unless stated otherwise.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DramParameters {
    /// Banks of a channel, a power of two. Each has one open row.
    #[schemars(range(min = 1, max = MAX_BANKS), extend("unit" = "banks"))]
    pub banks: Cited<usize>,
    /// Number of bank groups, a power of two. The highest bank bits select the group.
    #[schemars(range(min = 1), extend("unit" = "bank groups"))]
    pub bank_groups: Cited<usize>,
    /// Which bits of a channel-local address are row (R), bank (B), column (C) and burst (S), from bit 31
    /// down, as in `0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS`.
    pub address_pattern: Cited<String>,
    /// Bytes that one burst moves, over all chips of the channel.
    #[schemars(range(min = 1, max = LINE_BYTES), extend("unit" = "B"))]
    pub atom_bytes: Cited<usize>,
    /// Cycles that a burst occupies the data bus.
    #[schemars(range(min = 1, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub burst_cycles: Cited<u64>,
    /// Minimum distances between commands.
    pub timing: DramTiming,
    /// Size of the queue from which the scheduler chooses, in requests.
    #[schemars(range(min = 1, max = MAX_QUEUE), extend("unit" = "requests"))]
    pub queue_entries: Cited<usize>,
    /// Requests beyond the queue that can be served and await being taken back.
    #[schemars(range(min = 1, max = MAX_CONTROLLER), extend("unit" = "requests"))]
    pub return_entries: Cited<usize>,
    /// Number of younger row hits that can pass the oldest request of a bank, with the scheduler `fr-fcfs-cap`.
    #[schemars(range(min = 0), extend("unit" = "requests"))]
    pub starvation_bound: Cited<u32>,
    /// Which request is served next; without this key `fr-fcfs-cap`.
    #[serde(default)]
    pub scheduler: Option<Cited<Chosen<SchedulerPolicy>>>,
    /// When a row that no queued request wants is closed; without this key it stays `open`.
    #[serde(default)]
    pub page: Option<Cited<Chosen<dyn PagePolicy>>>,
    /// Latency in L2 cycles that the controller adds to every read.
    #[schemars(range(min = 0, max = MAX_CONTROLLER), extend("unit" = "L2 cycles"))]
    pub controller_latency_cycles: Cited<u64>,
    /// Refresh timing; without it the channel never refreshes.
    #[serde(default)]
    pub refresh: Option<Refresh>,
}

/// Minimum distances between commands, in DRAM cycles.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DramTiming {
    /// From a column command to the next (CCD).
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub ccd: Cited<u64>,
    /// From a column command to the next in the same bank group (CCDL).
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub ccd_l: Cited<u64>,
    /// From an activate to one of another bank (RRD).
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub rrd: Cited<u64>,
    /// From an activate to one of another bank of the same group (RRDL); without this key as in other groups.
    #[serde(default)]
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub rrd_l: Option<Cited<u64>>,
    /// From an activate to the fourth after it (FAW); without this key there is no such window.
    #[serde(default)]
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub faw: Option<Cited<u64>>,
    /// From an activate to a column command of its row (RCD).
    #[schemars(range(min = 1, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub rcd: Cited<u64>,
    /// From an activate to the precharge of its bank (RAS).
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub ras: Cited<u64>,
    /// From a precharge to the next activate of its bank (RP).
    #[schemars(range(min = 1, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub rp: Cited<u64>,
    /// From an activate to the next of the same bank (RC).
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub rc: Cited<u64>,
    /// From a read to its first data (CL).
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub cl: Cited<u64>,
    /// From a write to its first data (WL).
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub wl: Cited<u64>,
    /// From the last data of a write to a read (CDLR, also WTR).
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub cdlr: Cited<u64>,
    /// From the last data of a write to a read in the same bank group (WTRL); without this key as in other groups.
    #[serde(default)]
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub cdlr_l: Option<Cited<u64>>,
    /// From the last data of a write to the precharge of its bank (WR).
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub wr: Cited<u64>,
    /// From a read to the precharge of its bank (RTP).
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub rtp: Cited<u64>,
    /// Idle cycles of the data bus between read and write data.
    #[schemars(range(min = 0, max = MAX_CYCLES), extend("unit" = "cycles"))]
    pub turnaround: Cited<u64>,
}

/// Refreshes, in DRAM cycles.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Refresh {
    /// Which banks a refresh is of; without this key `all-bank`.
    #[serde(default)]
    pub policy: Option<Cited<Chosen<dyn RefreshPolicy>>>,
    /// Cycles in which every bank is refreshed once (REFI).
    #[schemars(range(min = 1, max = MAX_REFRESH_CYCLES), extend("unit" = "cycles"))]
    pub refi: Cited<u64>,
    /// Cycles that one refresh takes: RFC of all banks, RFCpb of one.
    #[schemars(range(min = 1, max = MAX_REFRESH_CYCLES), extend("unit" = "cycles"))]
    pub rfc: Cited<u64>,
}

impl DramParameters {
    /// Checks every field, and returns the parsed address pattern.
    ///
    /// # Errors
    /// Names the first wrong field, what was found and what was expected.
    pub fn check(&self) -> Result<AddressPattern, ParameterError> {
        let refuse = |field, message: String| Err(ParameterError::new(field, message));
        let (banks, groups, atom) = (*self.banks, *self.bank_groups, *self.atom_bytes);
        if !banks.is_power_of_two() || banks > MAX_BANKS {
            return refuse("banks", format!("found {banks}, expected a power of two up to {MAX_BANKS}"));
        }
        if !groups.is_power_of_two() || groups > banks {
            return refuse(
                "bank_groups",
                format!("found {groups}, expected a power of two up to the {banks} banks"),
            );
        }
        if !atom.is_power_of_two() || atom > LINE_BYTES {
            return refuse("atom_bytes", format!("found {atom}, expected a power of two up to {LINE_BYTES}"));
        }
        self.check_cycles()?;
        if !(1..=MAX_QUEUE).contains(&*self.queue_entries) {
            return refuse(
                "queue_entries",
                format!("found {}, expected 1 to {MAX_QUEUE}", *self.queue_entries),
            );
        }
        self.check_policies()?;
        let pattern = AddressPattern::parse(&self.address_pattern)?;
        if pattern.banks() != banks {
            return refuse("address_pattern", format!("found {} banks, expected {banks}", pattern.banks()));
        }
        if pattern.groups().is_some_and(|found| found != groups) {
            let found = pattern.groups().unwrap_or(1);
            return refuse("address_pattern", format!("found {found} bank groups, expected {groups}"));
        }
        Ok(pattern)
    }

    /// The policies' own parameters, and refreshes that leave time for requests.
    fn check_policies(&self) -> Result<(), ParameterError> {
        let refuse = |field| move |message: String| ParameterError::new(field, message);
        if let Some(scheduler) = &self.scheduler {
            scheduler.check().map_err(refuse("scheduler"))?;
        }
        if let Some(page) = &self.page {
            page.check().map_err(refuse("page"))?;
        }
        let Some(refresh) = &self.refresh else { return Ok(()) };
        let row = *self.timing.rc + *self.timing.rp;
        if *refresh.refi <= *refresh.rfc + row {
            let found = format!("found REFI {}, expected more than RFC + RC + RP", *refresh.refi);
            return Err(ParameterError::new("refresh", found));
        }
        let interval = refresh.policy().interval(*refresh.refi, *self.banks);
        match interval {
            Some(interval) if interval <= row => Err(ParameterError::new(
                "refresh",
                format!(
                    "found a refresh every {interval} cycles, expected more than RC + RP, {row}, so that requests are served"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Every distance within reason, so that sums of some are too.
    fn check_cycles(&self) -> Result<(), ParameterError> {
        let t = &self.timing;
        let bounds = [
            ("burst_cycles", *self.burst_cycles, 1, MAX_CYCLES),
            ("return_entries", *self.return_entries as u64, 1, MAX_CONTROLLER),
            ("controller_latency_cycles", *self.controller_latency_cycles, 0, MAX_CONTROLLER),
            ("timing.ccd", *t.ccd, 0, MAX_CYCLES),
            ("timing.ccd_l", *t.ccd_l, 0, MAX_CYCLES),
            ("timing.rrd", *t.rrd, 0, MAX_CYCLES),
            ("timing.rcd", *t.rcd, 1, MAX_CYCLES),
            ("timing.ras", *t.ras, 0, MAX_CYCLES),
            ("timing.rp", *t.rp, 1, MAX_CYCLES),
            ("timing.rc", *t.rc, 0, MAX_CYCLES),
            ("timing.cl", *t.cl, 0, MAX_CYCLES),
            ("timing.wl", *t.wl, 0, MAX_CYCLES),
            ("timing.cdlr", *t.cdlr, 0, MAX_CYCLES),
            ("timing.wr", *t.wr, 0, MAX_CYCLES),
            ("timing.rtp", *t.rtp, 0, MAX_CYCLES),
            ("timing.turnaround", *t.turnaround, 0, MAX_CYCLES),
        ];
        let optional = [("timing.rrd_l", &t.rrd_l), ("timing.faw", &t.faw), ("timing.cdlr_l", &t.cdlr_l)];
        let optional = optional
            .into_iter()
            .filter_map(|(field, cycles)| Some((field, **cycles.as_ref()?, 0, MAX_CYCLES)));
        let refresh = self.refresh.iter().flat_map(|refresh| {
            [
                ("refresh.refi", *refresh.refi, 1, MAX_REFRESH_CYCLES),
                ("refresh.rfc", *refresh.rfc, 1, MAX_REFRESH_CYCLES),
            ]
        });
        for (field, value, least, most) in bounds.into_iter().chain(optional).chain(refresh) {
            if !(least..=most).contains(&value) {
                return Err(ParameterError::new(field, format!("found {value}, expected {least} to {most}")));
            }
        }
        Ok(())
    }
}

impl Refresh {
    /// The policy, or that of machines that name none.
    pub fn policy(&self) -> Arc<dyn RefreshPolicy> {
        match &self.policy {
            Some(policy) => Arc::clone(policy.policy()),
            None => Arc::new(AllBank {}),
        }
    }
}
