//! A stash that is its own registry keeps the contract: mappings of words that another one has left in it find them, and memory has all of
//! them when a kernel ends.

use strata_engine::Cited;

use super::super::{StashConfig, StashScratchpad};
use crate::contract::scratchpad::{Contract, check_with_skips};

/// A stash with so many accesses under way at most.
fn config(accesses: u32) -> StashConfig {
    StashConfig { accesses: Some(Cited::new(accesses, "test")), ..StashConfig::paper() }
}

#[test]
fn it_keeps_the_contract() {
    let mut reached = [0; 3];
    for (seed, accesses) in (0..12).zip([1, 2, 7, 64].into_iter().cycle()) {
        let config = config(accesses);
        for contract in [Contract::dense(seed), Contract::wide(seed)] {
            let outcome =
                check_with_skips(&contract, &mut |site| Box::new(StashScratchpad::new(&config, site)))
                    .unwrap_or_else(|error| {
                        panic!("seed {seed}, {accesses} accesses, {contract:?}: {error}")
                    });
            for group in outcome.statistics.iter().flatten() {
                let counters = ["remote_requests", "words_along", "words_written_back"];
                for (sum, counter) in reached.iter_mut().zip(counters) {
                    *sum += group.get(counter).expect("a stash counts it");
                }
            }
        }
    }
    assert!(reached.iter().all(|sum| *sum > 0), "{reached:?}");
}
