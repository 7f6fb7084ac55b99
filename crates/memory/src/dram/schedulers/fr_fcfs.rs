//! First ready, first come, first served.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Pick, Scheduler};
use crate::dram::queue::BankView;

/// First ready, first come, first served (Rixner et al., ISCA 2000): requests for open rows, then the oldest. While row
/// hits keep coming, a request for another row of the bank waits.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrFcfs {}

impl Scheduler for FrFcfs {
    const IGNORES_YOUNGER: bool = true;

    #[inline]
    fn pick(&mut self, _bank: &BankView<'_>) -> Pick {
        Pick::OldestHit
    }
}
