//! The DeNovo L1D as a design that a machine file can select.

use strata_memory::ParameterError;
use strata_memory::area::Component;
use strata_memory::doors::{Coherence, Design, HOST_ITEM_BYTES, L1d, L1dDesign, L1dSite};

use super::{DenovoL1d, DenovoL1dConfig};
use crate::sram_area::{BankGeometry, sram_cache};

impl Design for DenovoL1dConfig {
    fn check(&self) -> Result<(), ParameterError> {
        self.geometry().check()?;
        let found = *self.line_bytes;
        if ![64, 128].contains(&found) {
            return Err(ParameterError::new("line_bytes", format!("must be 64 or 128, found {found}")));
        }
        let bounds = [
            ("hit_latency_cycles", *self.hit_latency_cycles, 1),
            ("tag_latency_cycles", *self.tag_latency_cycles, 1),
            ("fill_latency_cycles", *self.fill_latency_cycles, 1),
            ("remote_latency_cycles", *self.remote_latency_cycles, 1),
            ("mshr_entries", *self.mshr_entries as u64, 1),
            ("mshr_merges", u64::from(*self.mshr_merges), 1),
            // A store of whole words and of parts sends two requests.
            ("miss_queue", *self.miss_queue as u64, 2),
            // The registry may recall words of all of a line's blocks at once.
            ("answer_queue", *self.answer_queue as u64, 128 / u64::from(*self.line_bytes)),
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
            return Err(ParameterError::new(
                "banks",
                format!("must be a power of two up to 64, found {banks}"),
            ));
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
        let DenovoL1dConfig { ways, line_bytes, banks, mshr_entries, .. } = self;
        format!(
            "{kilobytes} KB, {} ways of {} bytes, {} banks, {} MSHRs, DeNovo",
            **ways, **line_bytes, **banks, **mshr_entries
        )
    }

    fn host_bytes(&self) -> u64 {
        let lines = *self.sets * *self.ways + 2 * *self.write_buffer;
        let waiting = *self.mshr_entries * usize::from(*self.mshr_merges);
        let queues = *self.miss_queue + *self.answer_queue + *self.bypass_entries;
        let latencies = (*self.hit_latency_cycles + 2 * *self.fill_latency_cycles) * u64::from(*self.banks);
        ((lines + waiting + queues) as u64 + latencies) * HOST_ITEM_BYTES
    }

    fn area(&self) -> Vec<Component> {
        let line_bytes = u64::from(*self.line_bytes);
        sram_cache(&BankGeometry { line_bytes, ..BankGeometry::of_lines(*self.sets, *self.ways) })
    }
}

impl L1dDesign for DenovoL1dConfig {
    fn capacity_bytes(&self) -> u64 {
        (*self.sets * *self.ways) as u64 * u64::from(*self.line_bytes)
    }

    fn line_bytes(&self) -> u32 {
        *self.line_bytes
    }

    fn coherence(&self) -> Coherence {
        Coherence::Owners
    }

    fn follows_host_copies(&self) -> bool {
        true
    }

    fn build(&self, site: L1dSite) -> Result<Box<dyn L1d>, ParameterError> {
        let mut config = self.clone();
        config.bypass_entries.value += site.held_loads;
        Ok(Box::new(DenovoL1d::new(&config, site.node, site.slices, site.seed)?))
    }
}
