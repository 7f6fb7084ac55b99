//! The contract on every system: as it is, in miniature, and with as little of everything as can be.

use strata_memory::tags::SetIndex;

use super::super::*;
use super::{SYSTEMS, small, system};
use crate::baseline::WriteMissPolicy;
use crate::contract::Outcome;
use crate::contract::l1d::{Contract, check_with_skips};

fn holds(name: &str, config: &FuseConfig, contract: Contract) -> Outcome {
    let outcome = check_with_skips(&contract, &mut |node, slices| {
        Box::new(FuseL1d::new(config, node, slices).unwrap())
    });
    outcome.unwrap_or_else(|fault| panic!("{name}: {fault}\n{contract:?}"))
}

#[test]
fn the_contract_holds_for_every_system() {
    for (name, _) in SYSTEMS {
        let config = system(name);
        let wide = Contract { lines: 2000, accesses: 6000, episodes: 2, ..Contract::alone(1) };
        holds(name, &config, wide);
        holds(name, &config, Contract::shared(2));
    }
}

/// The rule that the conventional L1D's `data_reads` and `data_writes` keep: a read for every load that is served from an
/// array, at once or after a fill, and for every write-back; a write for every store and fill. Moves are one of each.
#[test]
fn every_load_store_fill_write_back_and_move_is_one_access_of_one_array() {
    for (name, _) in SYSTEMS {
        let outcome = holds(name, &small(name), Contract::alone(5));
        for groups in &outcome.statistics {
            let count = |counter: &str| groups.iter().rev().find_map(|group| group.get(counter)).unwrap();
            let moves =
                count("migrations_to_stt") + count("migrations_to_sram") + count("tag_queue_migrations");
            let all = |of: [&str; 3]| of.map(&count).iter().sum::<u64>();
            assert_eq!(all(["sram_reads", "stt_reads", "swap_reads"]), count("data_reads") + moves, "{name}");
            assert_eq!(
                all(["sram_writes", "stt_writes", "swap_writes"]),
                count("data_writes") + moves,
                "{name}"
            );
            assert!(count("load_merges") > 0, "{name}: loads that are served after a fill");
        }
    }
}

#[test]
fn the_contract_holds_for_every_system_in_miniature() {
    for (name, _) in SYSTEMS {
        let config = small(name);
        for seed in 0..3 {
            holds(name, &config, Contract::alone(seed));
            holds(name, &config, Contract::shared(seed));
            holds(name, &config, Contract { lines: 4, special: 25, ..Contract::alone(seed) });
            holds(name, &config, Contract { willing: 100, delay: 2, ..Contract::shared(seed) });
            holds(name, &config, Contract { willing: 5, delay: 200, accesses: 150, ..Contract::alone(seed) });
        }
    }
}

/// One line of SRAM, one of STT-MRAM, queues of one.
fn least(name: &str) -> FuseConfig {
    let mut config = small(name);
    config.mshr_entries.value = 1;
    config.mshr_merges.value = 1;
    config.miss_queue.value = 2;
    config.write_buffer.value = 2;
    config.bypass_entries.value = 1;
    config.hit_latency_cycles.value = 1;
    if let Some(sram) = &mut config.sram {
        (sram.sets.value, sram.ways.value) = (1, 1);
    }
    if let Some(stt) = &mut config.stt {
        (stt.sets.value, stt.ways.value) = (1, 1);
        stt.write_cycles.value = 9;
    }
    if let Some(approximation) = &mut config.approximation {
        approximation.comparators.value = 1;
        approximation.filters.value = 1;
        approximation.slots.value = 1;
        approximation.counter_bits.value = 1;
    }
    if let Some(queues) = &mut config.queues {
        queues.tag_queue_entries.value = 1;
        queues.swap_buffer_entries.value = 1;
    }
    if let Some(dead_write) = &mut config.dead_write {
        dead_write.sampled_set_stride.value = 1;
    }
    config
}

#[test]
fn the_contract_holds_with_the_least_of_everything() {
    for (name, _) in SYSTEMS {
        let config = least(name);
        for seed in 0..3 {
            holds(name, &config, Contract { accesses: 600, ..Contract::alone(seed) });
            holds(name, &config, Contract { accesses: 300, ..Contract::shared(seed) });
            holds(name, &config, Contract { lines: 3, special: 25, accesses: 600, ..Contract::alone(seed) });
        }
    }
}

#[test]
fn the_contract_holds_for_every_depth_of_the_queues() {
    for name in ["base-fuse", "fa-fuse", "dy-fuse"] {
        for (commands, registers) in [(1, 1), (1, 5), (2, 1), (16, 1), (2, 3), (3, 2)] {
            let mut config = small(name);
            let queues = config.queues.as_mut().unwrap();
            queues.tag_queue_entries.value = commands;
            queues.swap_buffer_entries.value = registers;
            holds(name, &config, Contract::alone(commands as u64));
            holds(name, &config, Contract { accesses: 300, ..Contract::shared(registers as u64) });
        }
    }
}

#[test]
fn the_contract_holds_for_other_shapes() {
    for (name, _) in SYSTEMS {
        let mut config = small(name);
        config.write_miss_policy.value = WriteMissPolicy::Fetch;
        config.sector_bytes.value = 32;
        config.honours_bypass.value = false;
        if let Some(sram) = &mut config.sram {
            sram.set_index.value = SetIndex::Modulo;
            sram.ways.value = 3;
        }
        if let Some(approximation) = &mut config.approximation {
            approximation.filters.value = 2;
            approximation.comparators.value = 2;
            approximation.saturated.value = Saturated::Stays;
        }
        if let Some(bus) = &mut config.bus {
            bus.bytes_per_cycle.value = 32;
        }
        if let Some(predictor) = &mut config.predictor {
            predictor.sampled_warps.value = (0..48).collect();
        }
        for seed in 0..2 {
            holds(name, &config, Contract::alone(seed));
            holds(name, &config, Contract::shared(seed));
        }
    }
}
