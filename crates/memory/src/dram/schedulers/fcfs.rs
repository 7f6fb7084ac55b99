//! First come, first served.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Pick, Scheduler};
use crate::dram::queue::BankView;

/// First come, first served: commands serve the oldest request of the channel, and no other until its last burst.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fcfs {}

impl Scheduler for Fcfs {
    const BURSTS_FIRST: bool = false;
    const IN_ORDER: bool = true;
    const IGNORES_YOUNGER: bool = true;

    #[inline]
    fn pick(&mut self, _bank: &BankView<'_>) -> Pick {
        Pick::Oldest
    }
}
