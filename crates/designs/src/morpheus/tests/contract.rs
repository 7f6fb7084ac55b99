//! The controller under the contract of slices, with warps behind it, and planted bugs that it must catch.

use strata_engine::Cited;
use strata_memory::NodeId;

use super::warps::{Bug, Helped};
use super::{controller, published, small, with};
use crate::contract::Outcome;
use crate::contract::llc::{Contract, check_with_skips};
use crate::morpheus::{Buffered, Compression, Insertions, L1Sets, MorpheusConfig, Prediction, SharedSets};

const WARPS: u32 = 3;

fn run(config: &MorpheusConfig, contract: Contract, bug: Bug, refuses: bool) -> Result<Outcome, String> {
    check_with_skips(&contract, &mut || {
        let slice = NodeId::from(contract.l1ds);
        let helped = Helped::new(controller(config, WARPS, slice), slice, (WARPS, *config.ways), bug)
            .with_others(config.shared_ways(), config.l1_ways());
        Box::new(if refuses { helped.without_atomics() } else { helped })
    })
}

fn holds(config: &MorpheusConfig, contract: Contract) -> Outcome {
    run(config, contract, Bug::None, false)
        .unwrap_or_else(|fault| panic!("{fault}\n{contract:?}\n{config:?}"))
}

fn count(outcome: &Outcome, name: &str) -> u64 {
    let groups = outcome.statistics.iter().flatten();
    groups.filter(|group| group.name == "morpheus").filter_map(|group| group.get(name)).sum()
}

#[test]
fn the_contract_holds_with_each_prediction() {
    for prediction in [Prediction::Bloom, Prediction::None, Prediction::Perfect] {
        for seed in 0..3 {
            let config = with(prediction);
            let alone = holds(&config, Contract::alone(seed));
            let shared = holds(&config, Contract { special: 25, ..Contract::shared(seed) });
            for (outcome, is_alone) in [(&alone, true), (&shared, false)] {
                for counter in ["true_hits", "insertions", "atomic_operations", "patches", "past_writes"] {
                    // Without misses only writes of whole lines are insertions, and nobody shares a line that he writes whole.
                    let expected = counter != "insertions" || prediction != Prediction::None || is_alone;
                    assert_eq!(count(outcome, counter) > 0, expected, "{counter} with {prediction:?}");
                }
                // With perfect prediction, only of blocks that were driven out before their turn.
                assert!(count(outcome, "false_hits") > 0 || prediction == Prediction::Perfect);
            }
        }
    }
}

#[test]
fn atomics_that_warps_do_not_have_are_read_and_written_back() {
    let contract = Contract { special: 25, ..Contract::alone(5) };
    let outcome = run(&small(), contract, Bug::None, true).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(count(&outcome, "atomics") > 0);
}

#[test]
fn the_contract_holds_for_one_block_and_one_buffer() {
    let mut config = small();
    (config.ways.value, config.read_buffers.value, config.write_buffers.value) = (1, 1, 1);
    let outcome = holds(&config, Contract { accesses: 400, ..Contract::shared(4) });
    assert!(count(&outcome, "waited_for_buffer") > 0);
}

/// A read needs no line where its answer is its result, and an insertion none once its warp has the block.
#[test]
fn lines_that_hold_only_copies_are_soon_free() {
    let waits = |buffered| {
        let mut config = MorpheusConfig { buffered: Cited::new(buffered, "test"), ..small() };
        (config.read_buffers.value, config.write_buffers.value) = (1, 1);
        count(&holds(&config, Contract { accesses: 400, ..Contract::shared(4) }), "waited_for_buffer")
    };
    let (whole, copies) = (waits(Buffered::WholeOperation), waits(Buffered::OnlyCopy));
    assert!(0 < copies && copies < whole, "{copies} and {whole}");
}

/// Blocks are inserted later, or not at all, where a file says so.
#[test]
fn insertions_can_wait_and_be_dropped() {
    let contract = || Contract { special: 25, ..Contract::shared(3) };
    let insertions = |turn| {
        let config = MorpheusConfig { insertions: Cited::new(turn, "test"), ..small() };
        let outcome = holds(&config, contract());
        (count(&outcome, "insertions"), count(&outcome, "dropped_insertions"))
    };
    assert_eq!(insertions(Insertions::InTurn).1, 0);
    assert_eq!(insertions(Insertions::AfterRequests).1, 0);
    let (inserted, dropped) = insertions(Insertions::DroppedWhenBusy);
    assert!(inserted > 0 && dropped > 0, "{inserted} inserted, {dropped} dropped");
}

#[test]
fn planted_bugs_of_warps_are_caught() {
    use Bug::*;
    let bugs = [
        VictimLost,
        VictimLate,
        OneWayMore,
        WholeWrites,
        StaleRead,
        InsertionLost,
        AtomicTwice,
        TwoWarps,
        HostCopyLost,
    ];
    for bug in bugs {
        let caught = run(&small(), Contract { special: 25, ..Contract::shared(3) }, bug, false);
        assert!(caught.is_err(), "{bug:?} was not caught");
    }
}

/// Of three sets so many in shared memory, of so many blocks.
fn mixed(config: &MorpheusConfig, warps: u32, ways: u32) -> MorpheusConfig {
    let cited = |value| Cited::new(value, "test");
    let shared = Some(SharedSets { warps: cited(warps), ways: cited(ways) });
    MorpheusConfig { warps: cited(WARPS), shared, ..config.clone() }
}

#[test]
fn the_contract_holds_for_mixes_of_sets() {
    for (warps, ways) in [(1, 5), (2, 1), (3, 4)] {
        for prediction in [Prediction::Bloom, Prediction::None, Prediction::Perfect] {
            let config = mixed(&with(prediction), warps, ways);
            let outcome = holds(&config, Contract { special: 25, ..Contract::shared(7) });
            assert!(count(&outcome, "patches") > 0 && count(&outcome, "true_hits") > 0);
        }
        let config = mixed(&compressed(Prediction::Bloom), warps, ways);
        let contract = Contract { special: 25, ..Contract::shared(8) };
        run_compressed(&config, contract, Bug::None).unwrap_or_else(|fault| panic!("{fault}"));
    }
    // The filters of sets in shared memory change places at these sets' associativity: with one block more, some is denied.
    let caught = |bug| {
        (0..4).any(|seed| {
            let contract = Contract { special: 25, ..Contract::shared(seed) };
            run(&mixed(&small(), 1, 3), contract, bug, false).is_err()
        })
    };
    assert!(!caught(Bug::None) && caught(Bug::OneSharedWayMore));
}

/// Of three sets so many in an L1D, which has room for so many blocks of each.
fn with_l1(config: &MorpheusConfig, warps: u32, ways: u32) -> MorpheusConfig {
    let cited = |value| Cited::new(value, "test");
    let l1 = Some(L1Sets { warps: cited(warps), ways: cited(ways) });
    MorpheusConfig { warps: cited(WARPS), l1, ..config.clone() }
}

#[test]
fn the_contract_holds_for_sets_in_an_l1d() {
    for (shared, warps, ways) in [(0, 1, 5), (1, 1, 2), (1, 2, 1), (0, 3, 4)] {
        for prediction in [Prediction::Bloom, Prediction::None, Prediction::Perfect] {
            let config = with_l1(&mixed(&with(prediction), shared, 3), warps, ways);
            let outcome = holds(&config, Contract { special: 25, rests: true, ..Contract::shared(9) });
            let [hits, misses, atomics] = ["true_hits", "false_hits", "atomic_operations"];
            assert!([hits, misses, atomics].iter().all(|name| count(&outcome, name) > 0));
            if warps == WARPS {
                // Nothing is predicted, inserted or looked up in filters: all requests go to the L1D.
                let none = ["predicted_misses", "fetches", "filter_reads", "filter_writes", "patches"];
                assert!(none.iter().all(|name| count(&outcome, name) == 0));
            }
        }
    }
    for bug in [Bug::VictimLost, Bug::StaleRead, Bug::AtomicTwice, Bug::HostCopyLost] {
        let config = with_l1(&small(), WARPS, 2);
        let caught = run(&config, Contract { special: 25, rests: true, ..Contract::shared(3) }, bug, false);
        assert!(caught.is_err(), "{bug:?} was not caught");
    }
}

/// Sets of a kernel that compresses: up to eight blocks in two registers.
fn compressed(prediction: Prediction) -> MorpheusConfig {
    let mut config = with(prediction);
    let cited = |value| Cited::new(value, "test");
    config.compression = Some(Compression { epoch_cycles: cited(1000), blocks: cited(3), counts: None });
    config
}

fn run_compressed(config: &MorpheusConfig, contract: Contract, bug: Bug) -> Result<Outcome, String> {
    check_with_skips(&contract, &mut || {
        let slice = NodeId::from(contract.l1ds);
        let helped = Helped::new(controller(config, WARPS, slice), slice, (WARPS, *config.ways), bug);
        Box::new(helped.with_others(config.shared_ways(), config.l1_ways()).compressed())
    })
}

#[test]
fn the_contract_holds_for_sets_that_tell_their_depth() {
    for prediction in [Prediction::Bloom, Prediction::None] {
        for seed in 0..4 {
            let contract = Contract { special: 25, ..Contract::shared(seed) };
            let outcome = run_compressed(&compressed(prediction), contract, Bug::None)
                .unwrap_or_else(|fault| panic!("{prediction:?}, {seed}: {fault}"));
            assert!(count(&outcome, "patches") > 0 && count(&outcome, "true_hits") > 0);
        }
    }
    for bug in [Bug::VictimLost, Bug::DepthTooSmall] {
        let caught = (0..4)
            .any(|seed| run_compressed(&compressed(Prediction::Bloom), Contract::shared(seed), bug).is_err());
        assert!(caught, "{bug:?} was not caught");
    }
}

fn run_published(config: &MorpheusConfig, contract: Contract) -> Result<Outcome, String> {
    check_with_skips(&contract, &mut || Box::new(published(config, WARPS, NodeId::from(contract.l1ds))))
}

/// Random traffic over every prediction and order of insertions, over sets that tell their depth, and over sets of published
/// costs.
fn traffic(seed: u64) {
    let contract = if seed.is_multiple_of(2) { Contract::alone(seed) } else { Contract::shared(seed) };
    let l1 = (seed / 5 % 4) as u32;
    // Host copies ask L1Ds between launches, and controllers earlier than that.
    let contract = Contract { special: 25, rests: l1 > 0, ..contract };
    let lines = [Buffered::WholeOperation, Buffered::OnlyCopy];
    let buffered = Cited::new(lines[(seed / 6 % 2) as usize], "test");
    let turns = [Insertions::InTurn, Insertions::AfterRequests, Insertions::DroppedWhenBusy];
    let insertions = Cited::new(turns[(seed / 12 % 3) as usize], "test");
    // Sets of all kinds, in every proportion.
    let mixed = |config: MorpheusConfig| {
        let shared = (seed / 36 % 4) as u32;
        let config = mixed(&config, shared, 1 + (seed / 144 % 5) as u32);
        with_l1(&config, l1.min(WARPS - shared), 1 + (seed / 11 % 4) as u32)
    };
    let gather_cycles = Cited::new([0, 1, 40, 1000][(seed / 7 % 4) as usize], "test");
    let of_seed = |config| MorpheusConfig {
        insertions: insertions.clone(),
        buffered: buffered.clone(),
        gather_cycles: gather_cycles.clone(),
        ..config
    };
    let with = |prediction| of_seed(with(prediction));
    let compressed = |prediction| of_seed(compressed(prediction));
    let outcome = match seed % 6 {
        0 => run(&mixed(with(Prediction::Bloom)), contract, Bug::None, false),
        1 => run(&mixed(with(Prediction::None)), contract, Bug::None, false),
        2 => run(&mixed(with(Prediction::Perfect)), contract, Bug::None, true),
        3 => run_compressed(&mixed(compressed(Prediction::Bloom)), contract, Bug::None),
        4 => run_compressed(&mixed(compressed(Prediction::None)), contract, Bug::None),
        _ => {
            let predictions = [Prediction::Bloom, Prediction::None, Prediction::Perfect];
            let mut config = with(predictions[(seed / 6 % 3) as usize]);
            config.ways.value = 1 + (seed / 18 % 3) as u32;
            run_published(&config, contract)
        }
    };
    outcome.unwrap_or_else(|fault| panic!("{seed}: {fault}"));
}

#[test]
fn random_traffic() {
    (0..200).for_each(traffic);
}

/// Ten thousand: `cargo test --release -p strata-designs --lib morpheus::tests::contract::campaign -- --ignored`.
#[test]
#[ignore = "takes minutes"]
fn campaign() {
    (200..10_200).for_each(traffic);
}

/// The filters change places when they have one block less than a set: some block of it is denied.
#[test]
fn a_swap_one_access_early_is_caught() {
    let mut config = small();
    config.ways.value = 4;
    let early = |ways: u32| {
        let contract = Contract::shared(3);
        check_with_skips(&contract, &mut || {
            let slice = NodeId::from(contract.l1ds);
            let mut controller = controller(&config, WARPS, slice);
            controller.rows.iter_mut().for_each(|row| row.depth = ways);
            Box::new(Helped::new(controller, slice, (WARPS, 4), Bug::None))
        })
    };
    early(4).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(early(3).is_err(), "it was not caught");
}

/// Sets of published costs keep every byte, with every prediction.
#[test]
fn the_contract_holds_for_sets_of_published_costs() {
    for prediction in [Prediction::Bloom, Prediction::None, Prediction::Perfect] {
        for seed in 0..4 {
            let contract = Contract { special: 25, ..Contract::shared(seed) };
            let outcome = run_published(&with(prediction), contract);
            let outcome = outcome.unwrap_or_else(|fault| panic!("{prediction:?}, {seed}: {fault}"));
            for counter in ["true_hits", "insertions", "atomic_operations", "patches", "dram_written_bytes"] {
                assert!(count(&outcome, counter) > 0, "{counter} with {prediction:?}");
            }
            assert!(count(&outcome, "false_hits") > 0 || prediction == Prediction::Perfect);
        }
    }
}
