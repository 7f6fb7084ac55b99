//! DeNovo's L2 slice as a design that a machine file can select.

use strata_memory::doors::{Coherence, Design, HOST_ITEM_BYTES, Llc, LlcDesign, LlcSite};
use strata_memory::{LINE_BYTES, ParameterError};

use super::{DenovoL2, DenovoL2Config};

impl Design for DenovoL2Config {
    fn check(&self) -> Result<(), ParameterError> {
        self.geometry().check()?;
        let bounds = [
            ("request_queue", *self.request_queue as u64, 1),
            ("rop_latency_cycles", *self.rop_latency_cycles, 1),
            ("hit_latency_cycles", *self.hit_latency_cycles, 1),
            ("reply_queue", *self.reply_queue as u64, 1),
            ("mshr_entries", *self.mshr_entries as u64, 1),
            ("mshr_merges", u64::from(*self.mshr_merges), 1),
            // A miss sends its victim's bytes and a fetch.
            ("dram_queue", *self.dram_queue as u64, 2),
            ("write_buffer", *self.write_buffer as u64, 1),
            ("atomic_cycles", *self.atomic_cycles, 1),
        ];
        for (field, value, least) in bounds {
            if !(least..=4096).contains(&value) {
                return Err(ParameterError::new(field, format!("must be {least} to 4096, found {value}")));
            }
        }
        Ok(())
    }

    fn outline(&self) -> String {
        let kilobytes = self.capacity_bytes() / 1024;
        format!("{kilobytes} KB, {} ways, {} MSHRs, registry of DeNovo", *self.ways, *self.mshr_entries)
    }

    fn host_bytes(&self) -> u64 {
        let lines = *self.sets * *self.ways;
        let mshrs = *self.mshr_entries * (usize::from(*self.mshr_merges) + 1);
        let queues = *self.request_queue + *self.reply_queue + *self.dram_queue + *self.write_buffer + 64;
        let latencies = *self.rop_latency_cycles + *self.hit_latency_cycles;
        ((lines + mshrs + queues) as u64 + latencies) * HOST_ITEM_BYTES
    }
}

impl LlcDesign for DenovoL2Config {
    fn capacity_bytes(&self) -> u64 {
        (*self.sets * *self.ways * LINE_BYTES) as u64
    }

    fn coherence(&self) -> Coherence {
        Coherence::Owners
    }

    fn build(&self, site: LlcSite) -> Result<Box<dyn Llc>, ParameterError> {
        Ok(Box::new(DenovoL2::new(self, site.slice, site.seed)?))
    }
}
