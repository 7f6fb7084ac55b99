//! What of a slice of the last-level cache and of its channel is in use.

use std::sync::Arc;

use strata_engine::{Cycle, Gauge};
use strata_memory::Packet;
use strata_memory::doors::Llc;

use super::Gauges;
use crate::observed::{DramName, LlcObserver};

/// What a slice's MSHRs and its channel's requests are counted with.
pub struct LlcGauges {
    mshrs: Option<Arc<Gauge>>,
    dram: Arc<Gauge>,
}

impl LlcGauges {
    /// Those of a slice. The gauge of DRAM is that of all slices of its channel.
    pub fn new(llc: &dyn Llc, mshrs: &Gauges, dram: Arc<Gauge>) -> LlcGauges {
        LlcGauges { mshrs: llc.mshrs().is_some().then(|| mshrs.add()), dram }
    }
}

impl LlcObserver for LlcGauges {
    type Seen = ();

    fn see(&self, _request: &Packet) {}

    fn asked(&self, _name: DramName, now: Cycle) {
        self.dram.add_one(now);
    }

    fn done(&self, _name: DramName, now: Cycle) {
        self.dram.take_one(now);
    }

    fn changed(&self, llc: &dyn Llc, now: Cycle) {
        if let (Some(gauge), Some(mshrs)) = (&self.mshrs, llc.mshrs()) {
            gauge.set(mshrs as u64, now);
        }
    }
}
