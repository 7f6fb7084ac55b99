//! The contract in every shape of the cache.

use serde_json::json;
use strata_engine::Cited;
use strata_memory::doors::L1dDesign;
use strata_memory::insertion::InsertionPolicy;
use strata_memory::policy::{Chosen, PolicyKind};
use strata_memory::prefetch::PrefetchPolicy;
use strata_memory::replacement::ReplacementPolicy;
use strata_memory::tags::SetIndex;

use super::super::*;
use super::small;
use crate::contract::l1d::{Contract, check_with_skips};

fn holds(config: &SramL1dConfig, contract: Contract) {
    let outcome = check_with_skips(&contract, &mut |node, slices| {
        Box::new(SramL1d::new(config, node, slices, contract.seed).unwrap())
    });
    match outcome {
        Err(fault) => panic!("{fault}\n{contract:?}\n{config:?}"),
        Ok(outcome) => {
            let groups = outcome.statistics[0].iter();
            let hints =
                groups.filter(|group| group.name == "l1d_hints").filter_map(|group| group.get("issued"));
            assert!(hints.sum::<u64>() > 0, "no hint brought a line");
        }
    }
}

#[test]
fn the_contract_holds_for_every_write_policy_and_sector_size() {
    use WriteMissPolicy::*;
    use WritePolicy::*;
    for write_policy in [WriteBack, WriteThrough] {
        for miss_policy in [Validate, Fetch, NoAllocate] {
            for sector_bytes in [32, 128] {
                let mut config = small();
                config.write_policy.value = write_policy;
                config.write_miss_policy.value = miss_policy;
                config.sector_bytes.value = sector_bytes;
                for seed in 0..3 {
                    holds(&config, Contract::alone(seed));
                    holds(&config, Contract::shared(seed));
                }
            }
        }
    }
}

#[test]
fn the_contract_holds_for_allocation_on_fill() {
    for (sets, ways) in [(1, 1), (2, 1), (1, 4), (4, 2)] {
        for (write_policy, miss_policy, sector_bytes) in [
            (WritePolicy::WriteBack, WriteMissPolicy::Fetch, 32),
            (WritePolicy::WriteBack, WriteMissPolicy::Validate, 128),
            (WritePolicy::WriteThrough, WriteMissPolicy::NoAllocate, 32),
        ] {
            let mut config = small();
            config.allocate.value = Allocate::OnFill;
            (config.sets.value, config.ways.value) = (sets, ways);
            config.set_index.value = SetIndex::Modulo;
            config.replacement.value = Chosen::named("lru").unwrap();
            config.write_policy.value = write_policy;
            config.write_miss_policy.value = miss_policy;
            config.sector_bytes.value = sector_bytes;
            for seed in 0..3 {
                holds(&config, Contract::alone(seed));
                holds(&config, Contract::shared(seed));
                holds(&config, Contract { lines: 4, special: 25, ..Contract::alone(seed) });
                holds(&config, Contract { willing: 5, delay: 200, accesses: 150, ..Contract::alone(seed) });
            }
        }
    }
}

#[test]
fn the_contract_holds_for_other_shapes() {
    for (seed, (ways, sets, index, replacement)) in [
        (2, 4, SetIndex::Xor, Chosen::named("lru").unwrap()),
        (3, 5, SetIndex::Modulo, Chosen::named("fifo").unwrap()),
        (4, 2, SetIndex::Bits, Chosen::named("tree-plru").unwrap()),
        (8, 1, SetIndex::Xor, Chosen::named("random").unwrap()),
    ]
    .into_iter()
    .enumerate()
    {
        let mut config = small();
        config.ways.value = ways;
        config.sets.value = sets;
        config.set_index.value = index;
        config.replacement.value = replacement;
        config.accesses_per_cycle.value = 1 + seed;
        config.banks.value = 1 + seed % 2;
        config.mshr_entries.value = 1 + seed;
        config.mshr_merges.value = 1 + seed as u16 % 2;
        config.honours_bypass.value = seed != 1;
        config.miss_queue.value = 2;
        config.write_buffer.value = 2;
        config.bypass_entries.value = 1;
        holds(&config, Contract::alone(seed as u64));
        holds(&config, Contract::shared(seed as u64));
        holds(&config, Contract { lines: 4, special: 25, ..Contract::alone(seed as u64) });
        holds(&config, Contract { willing: 100, delay: 2, ..Contract::shared(seed as u64) });
        holds(&config, Contract { willing: 5, delay: 200, accesses: 150, ..Contract::alone(seed as u64) });
    }
}

/// Every insertion policy in turn.
fn insertion(turn: usize) -> Chosen<dyn InsertionPolicy> {
    let names = <dyn InsertionPolicy>::family().names();
    let policy = match names[turn % names.len()] {
        "by-pc" => json!({ "by-pc": { "pass": [4, 12, 20] } }),
        name => json!(name),
    };
    serde_json::from_value(policy).expect("it is built in")
}

#[test]
fn the_contract_holds_for_every_policy() {
    for (n, replacement) in <dyn ReplacementPolicy>::family().names().into_iter().enumerate() {
        for (m, prefetch) in <dyn PrefetchPolicy>::family().names().into_iter().enumerate() {
            let mut config = small();
            config.replacement.value = Chosen::named(replacement).unwrap();
            config.prefetch = Some(Cited::new(Chosen::named(prefetch).unwrap(), "test"));
            config.insertion = Some(Cited::new(insertion(n + m), "test"));
            config.allocate.value = if (n + m) % 2 == 0 { Allocate::OnMiss } else { Allocate::OnFill };
            config.sector_bytes.value = if n % 2 == 0 { 128 } else { 32 };
            config.accesses_per_cycle.value = 1 + m % 2;
            let seed = (4 * n + m) as u64;
            holds(&config, Contract::alone(seed));
            holds(&config, Contract { lines: 9, special: 25, ..Contract::shared(seed) });
            holds(&config, Contract { willing: 5, delay: 200, accesses: 150, ..Contract::alone(seed) });
        }
    }
}

#[test]
fn the_contract_holds_while_the_capacity_changes() {
    for (allocate, replacement) in [
        (Allocate::OnMiss, Chosen::named("lru").unwrap()),
        (Allocate::OnFill, Chosen::named("random").unwrap()),
    ] {
        let mut config = small();
        config.unified = Some(Cited::new(true, "test"));
        (config.sets.value, config.ways.value) = (2, 8);
        (config.allocate.value, config.replacement.value) = (allocate, replacement);
        config.set_index.value = SetIndex::Bits;
        let way = 2 * 128;
        assert!([way, 3 * way, 8 * way].iter().all(|bytes| config.check_capacity(*bytes).is_ok()));
        assert!([0, way / 2, 9 * way].iter().all(|bytes| config.check_capacity(*bytes).is_err()));
        for (seed, capacities) in [(0, [way, 8 * way]), (1, [3 * way, way]), (2, [8 * way, 8 * way])] {
            holds(&config, Contract { capacities: Some(capacities), episodes: 6, ..Contract::alone(seed) });
            holds(&config, Contract { capacities: Some(capacities), episodes: 6, ..Contract::shared(seed) });
        }
    }
}
