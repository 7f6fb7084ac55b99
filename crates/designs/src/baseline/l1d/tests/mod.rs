//! Tests of the SRAM L1D.

mod contract;
mod golden;
mod hints;
mod insertion;
mod news;
mod prefetch;

use super::SramL1dConfig;

/// A small cache, so that everything happens often: 4 sets of 2 ways, hit latency 4.
fn small() -> SramL1dConfig {
    let mut config = SramL1dConfig::example();
    config.sets.value = 4;
    config.ways.value = 2;
    config.hit_latency_cycles.value = 4;
    config.mshr_entries.value = 4;
    config.mshr_merges.value = 3;
    config.miss_queue.value = 4;
    config.write_buffer.value = 4;
    config.bypass_entries.value = 3;
    config
}
