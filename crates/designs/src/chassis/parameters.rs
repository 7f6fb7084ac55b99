//! The parameters of a chassis.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::insertion::InsertionPolicy;
use strata_memory::policy::Chosen;
use strata_memory::prefetch::PrefetchPolicy;
use strata_memory::{LINE_BYTES, ParameterError};

/// What a store does if its line is not in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WriteMissPolicy {
    /// Takes a frame without fetching; a mask records which bytes are valid.
    Validate,
    /// Takes a frame and fetches the sectors that the store fills only in part.
    Fetch,
    /// Writes to the level below and takes no frame.
    NoAllocate,
}

/// The parameters that a chassis uses while it runs. Latencies are in cycles.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Bytes of a sector, the unit of fetches: a power of two from 4 to a line.
    pub sector_bytes: usize,
    /// Number of accesses that can start in one cycle, 1 to 64.
    pub accesses_per_cycle: u32,
    /// Number of banks, 1 to 64. Consecutive lines lie in consecutive banks, and each bank takes one access
    /// per cycle.
    pub banks: u64,
    /// Cycles from the start of a hit to its completion.
    pub hit_latency: u64,
    /// Cycles from the start of an access until its request can leave for the network.
    pub tag_latency: u64,
    /// Cycles from serving an access that waited to its completion.
    pub fill_latency: u64,
    /// Capacity of the queue to the network in packets: at least 2, for a victim's bytes and a request.
    pub miss_queue: usize,
    /// Whether stored bytes stay in the cache until their line leaves it. Otherwise each store is also sent
    /// below immediately.
    pub write_back: bool,
    /// What a store does if its line is not in the cache.
    pub miss_policy: WriteMissPolicy,
    /// Whether accesses that ask to bypass the cache do so. Otherwise only atomics do.
    pub honours_bypass: bool,
    /// Unit in which loads that bypass the cache ask for bytes: 1, what the lanes ask for, or a power of two up to a line.
    pub bypass_sector_bytes: usize,
}

/// The capacities of a chassis, used when it is built.
#[derive(Clone, Copy, Debug)]
pub struct Rooms {
    /// Number of lines that can be fetched at a time.
    pub mshr_entries: usize,
    /// Number of accesses that one MSHR can hold, the first included.
    pub mshr_merges: u16,
    /// Number of writes that can be unacknowledged at a time; at least 2.
    pub write_buffer: usize,
    /// Number of atomics and bypassing loads that can be in flight at a time.
    pub bypass_entries: usize,
    /// Number of hits that can await completion: at least the hit latency times the accesses per cycle.
    pub hits: usize,
}

/// The policies of a cache with a place for them: which lines take a way, and what is fetched before it is asked for.
pub(crate) fn check_policies(
    insertion: Option<&Cited<Chosen<dyn InsertionPolicy>>>,
    prefetch: Option<&Cited<Chosen<dyn PrefetchPolicy>>>,
) -> Result<(), ParameterError> {
    let refuse = |field| move |message| ParameterError::new(field, message);
    insertion.map_or(Ok(()), |policy| policy.check().map_err(refuse("insertion")))?;
    prefetch.map_or(Ok(()), |policy| policy.check().map_err(refuse("prefetch")))
}

/// Checks that a chassis can be built.
///
/// # Errors
/// Names the first parameter that is out of bounds, as machine files call it.
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
    let past = parameters.bypass_sector_bytes;
    if past != 1 && (!past.is_power_of_two() || !(4..=LINE_BYTES).contains(&past)) {
        let message = format!("must be a power of two from 4 to {LINE_BYTES}, found {past}");
        return Err(ParameterError::new("bypass_sector_bytes", message));
    }
    let sector = parameters.sector_bytes;
    if !sector.is_power_of_two() || !(4..=LINE_BYTES).contains(&sector) {
        let message = format!("must be a power of two from 4 to {LINE_BYTES}, found {sector}");
        return Err(ParameterError::new("sector_bytes", message));
    }
    Ok(())
}
