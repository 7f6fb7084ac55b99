//! The DRAM parameters of a machine file.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::Cited;

use super::pattern::AddressPattern;
use crate::address::LINE_BYTES;
use crate::parameters::ParameterError;

/// Most queue entries: the scheduler works on masks of this width.
const MAX_QUEUE: usize = 64;
/// Most banks: the scheduler works on masks of this width.
pub(super) const MAX_BANKS: usize = 32;

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
    /// Number of younger row hits that can pass the oldest request of a bank.
    #[schemars(range(min = 0), extend("unit" = "requests"))]
    pub starvation_bound: Cited<u32>,
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

/// Timing of all-bank refresh, in DRAM cycles.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Refresh {
    /// Cycles between refreshes (REFI).
    #[schemars(range(min = 1, max = MAX_REFRESH_CYCLES), extend("unit" = "cycles"))]
    pub refi: Cited<u64>,
    /// Cycles that one refresh takes (RFC).
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
        if let Some(refresh) = &self.refresh
            && *refresh.refi <= *refresh.rfc + *self.timing.rc + *self.timing.rp
        {
            return refuse(
                "refresh",
                format!("found REFI {}, expected more than RFC + RC + RP", *refresh.refi),
            );
        }
        let pattern = AddressPattern::parse(&self.address_pattern)?;
        if pattern.banks() != banks {
            return refuse("address_pattern", format!("found {} banks, expected {banks}", pattern.banks()));
        }
        Ok(pattern)
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
        let refresh = self.refresh.iter().flat_map(|refresh| {
            [
                ("refresh.refi", *refresh.refi, 1, MAX_REFRESH_CYCLES),
                ("refresh.rfc", *refresh.rfc, 1, MAX_REFRESH_CYCLES),
            ]
        });
        for (field, value, least, most) in bounds.into_iter().chain(refresh) {
            if !(least..=most).contains(&value) {
                return Err(ParameterError::new(field, format!("found {value}, expected {least} to {most}")));
            }
        }
        Ok(())
    }
}
