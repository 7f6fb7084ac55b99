//! First ready, first come, first served, with a cap.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Pick, Scheduler, SchedulerSite};
use crate::dram::queue::BankView;

/// As fr-fcfs, but at most `dram.starvation_bound` younger row hits pass the oldest request of a bank (the cap of Mutlu and
/// Moscibroda, MICRO 2007).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrFcfsCap {
    #[serde(skip)]
    cap: u32,
}

impl Scheduler for FrFcfsCap {
    const IGNORES_YOUNGER: bool = true;

    fn start(&mut self, site: &SchedulerSite) {
        self.cap = site.starvation_bound;
    }

    #[inline]
    fn pick(&mut self, bank: &BankView<'_>) -> Pick {
        if bank.passed() >= self.cap { Pick::Oldest } else { Pick::OldestHit }
    }
}
