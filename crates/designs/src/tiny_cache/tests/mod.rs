//! Tests of the tinyCaches.

mod arrows;
mod contract;
mod planted;
mod timing;

use strata_engine::Cited;
use strata_memory::doors::{LanePathSite, LaneRequest};

use super::{BarrierEvicts, Bypass, TinyCache, TinyCacheConfig};

/// The caches of the paper.
fn paper() -> TinyCacheConfig {
    TinyCacheConfig {
        lines: Cited::new(16, "test"),
        ways: Cited::new(8, "test"),
        line_bytes: Cited::new(64, "test"),
        latency_cycles: Cited::new(1, "test"),
        bypass: Cited::new(Bypass::None, "test"),
        barrier: Cited::new(BarrierEvicts::All, "test"),
    }
}

fn cache() -> TinyCache {
    TinyCache::new(&paper(), LanePathSite { accesses: 64, seed: 1 })
}

/// A request of lane 0 alone.
fn of_lane_0(request: LaneRequest, token: u32, address: u64) -> Box<LaneRequest> {
    let mut request = Box::new(LaneRequest { token, lanes: 1, ..request });
    request.addresses[0] = address;
    request
}
