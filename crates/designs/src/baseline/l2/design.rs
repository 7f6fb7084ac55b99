//! The L2 slice as a design that a machine file can select.

use strata_memory::doors::{Design, HOST_ITEM_BYTES, Llc, LlcDesign, LlcSite};
use strata_memory::{LINE_BYTES, ParameterError};

use super::{L2Config, L2Slice};

impl Design for L2Config {
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
        if !self.sector_bytes.is_power_of_two() || !(4..=LINE_BYTES).contains(&self.sector_bytes) {
            let message =
                format!("must be a power of two from 4 to {LINE_BYTES}, found {}", *self.sector_bytes);
            return Err(ParameterError::new("sector_bytes", message));
        }
        Ok(())
    }

    fn outline(&self) -> String {
        format!("{} KB, {} ways, {} MSHRs", self.capacity_bytes() / 1024, *self.ways, *self.mshr_entries)
    }

    fn host_bytes(&self) -> u64 {
        let lines = *self.sets * *self.ways;
        let mshrs = *self.mshr_entries * (usize::from(*self.mshr_merges) + LINE_BYTES / *self.sector_bytes);
        let queues = *self.request_queue + *self.reply_queue + *self.dram_queue + *self.write_buffer;
        let latencies = *self.rop_latency_cycles + *self.hit_latency_cycles;
        ((lines + mshrs + queues) as u64 + latencies) * HOST_ITEM_BYTES
    }
}

impl LlcDesign for L2Config {
    fn capacity_bytes(&self) -> u64 {
        (*self.sets * *self.ways * LINE_BYTES) as u64
    }

    fn build(&self, site: LlcSite) -> Result<Box<dyn Llc>, ParameterError> {
        Ok(Box::new(L2Slice::new(self, site.slice, site.seed)?))
    }
}
