//! The numbers of a chassis.

use serde::{Deserialize, Serialize};
use strata_memory::{LINE_BYTES, ParameterError};

/// What a store does whose line is not in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteMissPolicy {
    /// Takes a frame without fetching; a mask tells which bytes are valid.
    Validate,
    /// Takes a frame and fetches the sectors that it does not fill.
    Fetch,
    /// Goes below and leaves the cache alone.
    NoAllocate,
}

/// The numbers that are needed while running.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameters {
    pub sector_bytes: usize,
    pub accesses_per_cycle: u32,
    pub banks: u64,
    pub hit_latency: u64,
    pub tag_latency: u64,
    pub fill_latency: u64,
    pub miss_queue: usize,
    pub write_back: bool,
    pub miss_policy: WriteMissPolicy,
    pub honours_bypass: bool,
}

/// How many of each there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rooms {
    pub mshr_entries: usize,
    pub mshr_merges: u16,
    pub write_buffer: usize,
    pub bypass_entries: usize,
    /// Completions of hits on their way.
    pub hits: usize,
}

/// Finds numbers that cannot be built. The error names the field as configurations call it.
pub(crate) fn check(parameters: &Parameters, rooms: &Rooms) -> Result<(), ParameterError> {
    let bounds = [
        ("accesses_per_cycle", u64::from(parameters.accesses_per_cycle), 1, 64),
        ("banks", parameters.banks, 1, 64),
        ("hit_latency_cycles", parameters.hit_latency, 1, 4096),
        ("tag_latency_cycles", parameters.tag_latency, 1, 4096),
        ("fill_latency_cycles", parameters.fill_latency, 1, 4096),
        ("mshr_entries", rooms.mshr_entries as u64, 1, 4096),
        ("mshr_merges", u64::from(rooms.mshr_merges), 1, 4096),
        ("bypass_entries", rooms.bypass_entries as u64, 1, 4096),
        // The largest step sends a victim's bytes and a request of its own.
        ("miss_queue", parameters.miss_queue as u64, 2, 4096),
        ("write_buffer", rooms.write_buffer as u64, 2, 4096),
    ];
    for (field, value, least, most) in bounds {
        if !(least..=most).contains(&value) {
            return Err(ParameterError::new(field, format!("must be {least} to {most}, found {value}")));
        }
    }
    let sector = parameters.sector_bytes;
    if !sector.is_power_of_two() || !(4..=LINE_BYTES).contains(&sector) {
        let message = format!("must be a power of two from 4 to {LINE_BYTES}, found {sector}");
        return Err(ParameterError::new("sector_bytes", message));
    }
    Ok(())
}
