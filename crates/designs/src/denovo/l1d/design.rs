//! The DeNovo L1D as a design that a machine file can select.

use strata_memory::area::Component;
use strata_memory::doors::{Coherence, Design, HOST_ITEM_BYTES, L1d, L1dDesign, L1dSite};
use strata_memory::{LINE_BYTES, ParameterError};

use super::{DenovoL1d, DenovoL1dConfig};
use crate::sram_area::{BankGeometry, sram_cache};

impl Design for DenovoL1dConfig {
    fn check(&self) -> Result<(), ParameterError> {
        self.geometry().check()?;
        let bounds = [
            ("hit_latency_cycles", *self.hit_latency_cycles, 1),
            ("tag_latency_cycles", *self.tag_latency_cycles, 1),
            ("fill_latency_cycles", *self.fill_latency_cycles, 1),
            ("remote_latency_cycles", *self.remote_latency_cycles, 1),
            ("mshr_entries", *self.mshr_entries as u64, 1),
            ("mshr_merges", u64::from(*self.mshr_merges), 1),
            // A store of whole words and of parts sends two requests.
            ("miss_queue", *self.miss_queue as u64, 2),
            ("answer_queue", *self.answer_queue as u64, 1),
            ("write_buffer", *self.write_buffer as u64, 1),
            ("bypass_entries", *self.bypass_entries as u64, 1),
            ("combined_lines", *self.combined_lines as u64, 1),
        ];
        for (field, value, least) in bounds {
            if !(least..=4096).contains(&value) {
                return Err(ParameterError::new(field, format!("must be {least} to 4096, found {value}")));
            }
        }
        let banks = *self.banks;
        if !banks.is_power_of_two() || banks > 64 {
            return Err(ParameterError::new("banks", format!("must be a power of two up to 64, found {banks}")));
        }
        let found = *self.combine_cycles;
        if found > 1_000_000 {
            return Err(ParameterError::new(
                "combine_cycles",
                format!("must be 0 to 1000000, found {found}"),
            ));
        }
        Ok(())
    }

    fn outline(&self) -> String {
        let kilobytes = self.capacity_bytes() / 1024;
        let DenovoL1dConfig { ways, banks, mshr_entries, .. } = self;
        format!("{kilobytes} KB, {} ways, {} banks, {} MSHRs, DeNovo", **ways, **banks, **mshr_entries)
    }

    fn host_bytes(&self) -> u64 {
        let lines = *self.sets * *self.ways + 2 * *self.write_buffer;
        let waiting = *self.mshr_entries * usize::from(*self.mshr_merges);
        let queues = *self.miss_queue + *self.answer_queue + *self.bypass_entries;
        let latencies = *self.hit_latency_cycles * u64::from(*self.banks) + *self.fill_latency_cycles;
        ((lines + waiting + queues) as u64 + latencies) * HOST_ITEM_BYTES
    }

    fn area(&self) -> Vec<Component> {
        sram_cache(&BankGeometry::of_lines(*self.sets, *self.ways))
    }
}

impl L1dDesign for DenovoL1dConfig {
    fn capacity_bytes(&self) -> u64 {
        (*self.sets * *self.ways * LINE_BYTES) as u64
    }

    fn coherence(&self) -> Coherence {
        Coherence::Owners
    }

    fn build(&self, site: L1dSite) -> Result<Box<dyn L1d>, ParameterError> {
        let mut config = self.clone();
        config.bypass_entries.value += site.held_loads;
        Ok(Box::new(DenovoL1d::new(&config, site.node, site.slices, site.seed)?))
    }
}
