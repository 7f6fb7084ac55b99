//! Caches with the policy keep the contract of their doors.

use std::sync::Arc;

use my_idea::Ahead;
use strata_designs::baseline::{L2Config, SramL1dConfig};
use strata_designs::contract::{Contract, l1d, llc};
use strata_engine::Cited;
use strata_memory::doors::{L1dDesign, L1dSite, LlcDesign, LlcSite};
use strata_memory::policy::Chosen;
use strata_memory::prefetch::PrefetchPolicy;

fn policy(lines: u8) -> Chosen<dyn PrefetchPolicy> {
    Chosen::of("my-idea", Arc::new(Ahead { lines }))
}

#[test]
fn an_l1d_keeps_its_contract() {
    for (ways, lines) in [(1, 0), (2, 1), (4, 3)] {
        let mut config = SramL1dConfig::example();
        (config.sets.value, config.ways.value) = (2, ways);
        config.prefetch = Some(Cited::new(policy(lines), "a test"));
        let make =
            &mut |node, slices| config.build(L1dSite { node, slices, seed: 1, held_loads: 0 }).unwrap();
        for contract in [Contract::alone(1), Contract::shared(2)] {
            l1d::check_with_skips(&contract, make).unwrap_or_else(|fault| panic!("{config:?}: {fault}"));
        }
    }
}

#[test]
fn an_llc_keeps_its_contract() {
    for (ways, lines) in [(1, 0), (2, 1), (4, 3)] {
        let mut config = L2Config::example();
        (config.sets.value, config.ways.value) = (2, ways);
        config.prefetch = Some(Cited::new(policy(lines), "a test"));
        let make = &mut || config.build(LlcSite::alone(1)).unwrap();
        llc::check_with_skips(&Contract::shared(1), make)
            .unwrap_or_else(|fault| panic!("{config:?}: {fault}"));
    }
}
