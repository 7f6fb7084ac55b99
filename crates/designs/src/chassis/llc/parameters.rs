//! The parameters of an LLC on a chassis.

use strata_memory::insertion::InsertionPolicy;
use strata_memory::policy::Chosen;
use strata_memory::tags::Geometry;
use strata_memory::{LINE_BYTES, ParameterError};

/// The parameters of one slice, in cycles of its own clock.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// The shape and policies of the sets.
    pub geometry: Geometry,
    /// Which lines that are fetched take a way, where not all do.
    pub insertion: Option<Chosen<dyn InsertionPolicy>>,
    /// Unit of a fetch from DRAM in bytes: a power of two from 4 to a line.
    pub sector_bytes: usize,
    /// Number of requests that can wait, beyond those within the ROP latency.
    pub request_queue: usize,
    /// Cycles from the arrival of a request to its look-up.
    pub rop_latency: u64,
    /// Cycles from a look-up that hits, or from the turn of a request that waited, to the reply.
    pub hit_latency: u64,
    /// Number of replies that can wait for the network, beyond those within the hit latency.
    pub reply_queue: usize,
    /// Room for as many packets more: those by which one request may be answered, if there can be several.
    pub spare_packets: usize,
    /// Number of lines that can be fetched at a time.
    pub mshr_entries: usize,
    /// Number of requests that one MSHR can hold, the first included.
    pub mshr_merges: u16,
    /// Capacity of the queue to the DRAM channel, in requests: at least 2, for a victim's bytes and a fetch.
    pub dram_queue: usize,
    /// Number of lines that can be in flight to DRAM.
    pub write_buffer: usize,
    /// Cycles that each operation of an atomic takes on one address.
    pub atomic_cycles: u64,
    /// Bytes of a line that are read or written in a cycle; `None` for all.
    pub data_bytes_per_cycle: Option<u32>,
}

impl Parameters {
    /// Checks that a slice can be built.
    ///
    /// # Errors
    /// Names the first parameter that is out of bounds, as machine files call it.
    pub fn check(&self) -> Result<(), ParameterError> {
        self.geometry.check()?;
        let bounds = [
            ("request_queue", self.request_queue as u64, 1),
            ("rop_latency_cycles", self.rop_latency, 1),
            ("hit_latency_cycles", self.hit_latency, 1),
            ("reply_queue", self.reply_queue as u64, 1),
            ("mshr_entries", self.mshr_entries as u64, 1),
            ("mshr_merges", u64::from(self.mshr_merges), 1),
            // A miss sends its victim's bytes and a fetch.
            ("dram_queue", self.dram_queue as u64, 2),
            ("write_buffer", self.write_buffer as u64, 1),
            ("atomic_cycles", self.atomic_cycles, 1),
        ];
        for (field, value, least) in bounds {
            if !(least..=4096).contains(&value) {
                return Err(ParameterError::new(field, format!("must be {least} to 4096, found {value}")));
            }
        }
        if !self.sector_bytes.is_power_of_two() || !(4..=LINE_BYTES).contains(&self.sector_bytes) {
            let message =
                format!("must be a power of two from 4 to {LINE_BYTES}, found {}", self.sector_bytes);
            return Err(ParameterError::new("sector_bytes", message));
        }
        let data = self.data_bytes_per_cycle.unwrap_or(1);
        if !(1..=LINE_BYTES as u32).contains(&data) {
            let message = format!("must be 1 to {LINE_BYTES}, found {data}");
            return Err(ParameterError::new("data_bytes_per_cycle", message));
        }
        Ok(())
    }

    /// Number of packets that can wait for the network.
    pub fn reply_room(&self) -> usize {
        self.reply_queue + self.hit_latency as usize + self.spare_packets
    }

    /// Data capacity in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        (self.geometry.sets * self.geometry.ways * LINE_BYTES) as u64
    }

    /// The capacity, and what else tells one slice from another.
    pub fn outline(&self) -> String {
        let kilobytes = self.capacity_bytes() / 1024;
        format!("{kilobytes} KB, {} ways, {} MSHRs", self.geometry.ways, self.mshr_entries)
    }

    /// How many lines' worth of host memory a slice takes.
    pub fn items(&self) -> u64 {
        let passing = if self.insertion.is_some() { self.mshr_entries } else { 0 };
        let lines = self.geometry.sets * self.geometry.ways + passing;
        let mshrs = self.mshr_entries * (usize::from(self.mshr_merges) + LINE_BYTES / self.sector_bytes);
        let queues = self.request_queue + self.reply_room() + self.dram_queue + self.write_buffer;
        (lines + mshrs + queues) as u64 + self.rop_latency
    }
}
