//! Each design keeps the contract of its door.

use own_designs::{blocking_l1d, direct_mapped_llc};
use strata_designs::contract::{Contract, check_llc_with_skips, check_with_skips};
use strata_engine::Cited;
use strata_memory::doors::{L1dDesign, L1dSite, LlcDesign, LlcSite};

fn cited<T>(value: T) -> Cited<T> {
    Cited::new(value, "test")
}

#[test]
fn the_blocking_l1d_keeps_its_contract() {
    for (lines, hit_latency, write_buffer) in [(1, 1, 1), (8, 20, 2), (64, 4, 32)] {
        let config = blocking_l1d::Config {
            lines: cited(lines),
            hit_latency_cycles: cited(hit_latency),
            write_buffer: cited(write_buffer),
        };
        for contract in [Contract::alone(lines as u64), Contract::shared(lines as u64)] {
            let mut make = |node, slices| config.build(L1dSite { node, slices, seed: 1 }).unwrap();
            check_with_skips(&contract, &mut make).unwrap_or_else(|fault| panic!("{lines} lines: {fault}"));
        }
    }
}

#[test]
fn the_direct_mapped_llc_keeps_its_contract() {
    for (lines, latency, queue) in [(1, 1, 1), (16, 30, 4), (64, 5, 16)] {
        let config = direct_mapped_llc::Config {
            lines: cited(lines),
            latency_cycles: cited(latency),
            queue: cited(queue),
        };
        let mut make = || config.build(LlcSite { slice: 0, seed: 1 }).unwrap();
        check_llc_with_skips(&Contract::shared(lines as u64), &mut make)
            .unwrap_or_else(|fault| panic!("{lines} lines: {fault}"));
    }
}
