//! The L1D keeps the contract of its door: nothing is lost, every byte is right, and it never stands still.

use my_idea::config::Config;
use strata_designs::chassis::WriteMissPolicy;
use strata_designs::contract::{Contract, l1d};
use strata_engine::Cited;
use strata_memory::doors::{L1dDesign, L1dSite};

fn cited<T>(value: T) -> Cited<T> {
    Cited::new(value, "a test")
}

/// A small cache, in which much goes wrong if it can.
fn small(sets: usize, ways: usize, write_miss_policy: WriteMissPolicy) -> Config {
    Config {
        sets: cited(sets),
        ways: cited(ways),
        sector_bytes: cited(32),
        hit_latency_cycles: cited(3),
        tag_latency_cycles: cited(1),
        fill_latency_cycles: cited(1),
        mshr_entries: cited(4),
        mshr_merges: cited(3),
        miss_queue: cited(4),
        write_buffer: cited(4),
        bypass_entries: cited(2),
        write_miss_policy: cited(write_miss_policy),
        honours_bypass: cited(true),
    }
}

#[test]
fn the_contract_holds() {
    use WriteMissPolicy::{Fetch, NoAllocate, Validate};
    for (sets, ways) in [(1, 1), (4, 2), (3, 4)] {
        for policy in [Validate, Fetch, NoAllocate] {
            let config = small(sets, ways, policy);
            for seed in 0..2 {
                let make =
                    &mut |node, slices| config.build(L1dSite { node, slices, seed, held_loads: 0 }).unwrap();
                for contract in [Contract::alone(seed), Contract::shared(seed)] {
                    let kept = l1d::check_with_skips(&contract, make);
                    kept.unwrap_or_else(|fault| panic!("{config:?}, {contract:?}: {fault}"));
                }
            }
        }
    }
}
