//! FUSE as a design that a machine file can select.

use strata_memory::area::Component;
use strata_memory::doors::{Design, HOST_ITEM_BYTES, L1d, L1dDesign, L1dSite};
use strata_memory::{LINE_BYTES, ParameterError};

use super::area::FuseGeometry;
use super::config::FuseConfig;
use super::{FuseL1d, area, checks};

impl Design for FuseConfig {
    fn check(&self) -> Result<(), ParameterError> {
        checks::check(self)
    }

    fn outline(&self) -> String {
        let bank = |name, sets, ways| format!("{name} of {sets} sets of {ways} ways");
        let sram = self.sram.iter().map(|sram| bank("SRAM", *sram.sets, *sram.ways));
        let stt = self.stt.iter().map(|stt| bank("STT-MRAM", *stt.sets, *stt.ways));
        let banks = sram.chain(stt).collect::<Vec<_>>().join(" and ");
        format!("{} KB, {banks}, {} MSHRs", self.capacity_bytes() / 1024, *self.mshr_entries)
    }

    fn host_bytes(&self) -> u64 {
        let commands =
            self.queues.as_ref().map_or(0, |queues| *queues.tag_queue_entries + *queues.swap_buffer_entries);
        // Filters, sampler and history table are smaller than a line for each entry.
        let tables = self.approximation.as_ref().map_or(0, |filters| *filters.filters * *filters.slots / 64)
            + self.predictor.as_ref().map_or(0, |predictor| *predictor.history_entries)
            + self.dead_write.as_ref().map_or(0, |dead_write| *dead_write.history_entries);
        ((self.lines() + commands + tables) as u64 + self.chassis_items(2)) * HOST_ITEM_BYTES
    }

    fn area(&self) -> Vec<Component> {
        area::l1d(&FuseGeometry::of(self))
    }
}

impl L1dDesign for FuseConfig {
    fn capacity_bytes(&self) -> u64 {
        (self.lines() * LINE_BYTES) as u64
    }

    fn tells_news(&self) -> bool {
        true
    }

    fn build(&self, site: L1dSite) -> Result<Box<dyn L1d>, ParameterError> {
        let mut config = self.clone();
        config.bypass_entries.value += site.held_loads;
        Ok(Box::new(FuseL1d::new(&config, site.node, site.slices)?))
    }
}
