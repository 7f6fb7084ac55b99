//! The LLC keeps the contract of its door: nothing is lost, every byte is right, and it never stands still.

use my_idea::config::Config;
use strata_designs::contract::{Contract, llc};
use strata_engine::Cited;
use strata_memory::doors::{LlcDesign, LlcSite};
use strata_memory::replacement::lru;
use strata_memory::tags::SetIndex;

fn cited<T>(value: T) -> Cited<T> {
    Cited::new(value, "a test")
}

/// A small slice, in which much goes wrong if it can.
fn small(sets: usize, ways: usize, sector_bytes: usize) -> Config {
    Config {
        sets: cited(sets),
        ways: cited(ways),
        set_index: cited(SetIndex::Modulo),
        replacement: cited(lru()),
        sector_bytes: cited(sector_bytes),
        request_queue: cited(4),
        rop_latency_cycles: cited(3),
        hit_latency_cycles: cited(2),
        reply_queue: cited(2),
        mshr_entries: cited(4),
        mshr_merges: cited(2),
        dram_queue: cited(3),
        write_buffer: cited(3),
        atomic_cycles: cited(2),
    }
}

#[test]
fn the_contract_holds() {
    for (sets, ways) in [(1, 1), (4, 2), (3, 4)] {
        for sector_bytes in [4, 32, 128] {
            let config = small(sets, ways, sector_bytes);
            let make = &mut || config.build(LlcSite::alone(1)).unwrap();
            for seed in 0..2 {
                let kept = llc::check_with_skips(&Contract::shared(seed), make);
                kept.unwrap_or_else(|fault| panic!("{config:?}, seed {seed}: {fault}"));
            }
        }
    }
}
