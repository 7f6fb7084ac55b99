//! What of an L1D is in use.

use std::sync::Arc;

use strata_engine::{Cycle, Gauge};
use strata_memory::doors::L1d;

use super::Gauges;
use crate::observed::L1dObserver;

/// What an L1D's MSHRs and requests are counted with.
pub struct L1dGauges {
    mshrs: Option<Arc<Gauge>>,
    requests: Arc<Gauge>,
}

impl L1dGauges {
    /// Those of an L1D.
    pub fn new(l1d: &dyn L1d, mshrs: &Gauges, requests: &Gauges) -> L1dGauges {
        L1dGauges { mshrs: l1d.mshrs().is_some().then(|| mshrs.add()), requests: requests.add() }
    }
}

impl L1dObserver for L1dGauges {
    fn changed(&mut self, l1d: &dyn L1d, now: Cycle) {
        if let (Some(gauge), Some(mshrs)) = (&self.mshrs, l1d.mshrs()) {
            gauge.set(mshrs as u64, now);
        }
        self.requests.set(l1d.outstanding() as u64, now);
    }
}
