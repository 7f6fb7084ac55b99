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

/// What a chassis needs while it runs. Latencies are in cycles.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Bytes of a sector, the unit of fetches: a power of two from 4 to a line.
    pub sector_bytes: usize,
    /// Accesses that may start in a cycle, 1 to 64.
    pub accesses_per_cycle: u32,
    /// Banks that lines are spread over by their numbers, 1 to 64; each takes one access a cycle.
    pub banks: u64,
    /// From the start of a hit to its completion.
    pub hit_latency: u64,
    /// From the start of an access to its request at the network.
    pub tag_latency: u64,
    /// From the step that serves an access that waited to its completion.
    pub fill_latency: u64,
    /// Room of the queue to the network, in packets; at least 2, a victim's bytes and a request.
    pub miss_queue: usize,
    /// Stores stay in the cache until their line leaves it; otherwise each goes below at once.
    pub write_back: bool,
    /// What a store does whose line is not there.
    pub miss_policy: WriteMissPolicy,
    /// Accesses that ask to bypass the cache do so; otherwise only atomics do.
    pub honours_bypass: bool,
}

/// How much a chassis holds; needed when it is built.
#[derive(Clone, Copy, Debug)]
pub struct Rooms {
    /// Lines that can be fetched at a time.
    pub mshr_entries: usize,
    /// Accesses that wait in an MSHR, the first included.
    pub mshr_merges: u16,
    /// Writes that can be on their way below, without an acknowledgement; at least 2.
    pub write_buffer: usize,
    /// Atomics and loads past the cache that can be under way.
    pub bypass_entries: usize,
    /// Completions of hits on their way: at least the hit latency times the accesses of a cycle.
    pub hits: usize,
}

/// Finds numbers that cannot be built.
///
/// # Errors
/// The first one that is out of bounds, under the name that the field has in machine files.
pub fn check(parameters: &Parameters, rooms: &Rooms) -> Result<(), ParameterError> {
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
