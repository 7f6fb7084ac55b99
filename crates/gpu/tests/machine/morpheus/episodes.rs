//! Random episodes and programs on a small machine whose sets hold so little that blocks come and go all the time: all that
//! threads read, and all of memory after every launch, is what it has to be. Every variant of the kernel and the controller.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use strata_engine::seed::Stream;

use super::{OF_COST, of_system};
use crate::false_sharing::episodes::{Between, Shape, check};
use crate::random_programs::{compare, program, text};
use crate::support::variation::Variation;

/// Four SMs run programs; two have three sets each, of four blocks, one of them in shared memory, beside four conventional lines.
const SMALL: &[&str] = &[
    "gpu.sms=6",
    "gpu.cache_sms=2",
    "gpu.channels=2",
    "gpu.slices_per_channel=1",
    "gpu.memory_mib=16",
    "gpu.watchdog_cycles=100000",
    "llc.warps=3",
    "llc.ways=4",
    "llc.shared.warps=1",
    "llc.shared.ways=4",
    "llc.conventional.sets=2",
    "llc.conventional.ways=1",
];

/// What compressed sets have besides: epochs of a few requests.
const COMPRESSED: &[&str] = &["llc.compression.blocks=6", "llc.compression.epoch_cycles=1500"];

/// Systems, with further settings.
const VARIANTS: &[(&str, &[&str], &[&str])] = &[
    ("morpheus-basic", &[], &[]),
    ("morpheus-all", COMPRESSED, &[]),
    ("morpheus-indirect-mov", &[], &[]),
    ("morpheus-compression", COMPRESSED, &[]),
    ("morpheus-no-prediction", &[], &[]),
    ("morpheus-perfect-prediction", &[], &[]),
    ("morpheus-basic", &[], &["llc.wait=polled", "llc.ways=1"]),
    ("morpheus-all", COMPRESSED, &["llc.wait=polled"]),
    ("morpheus-all", COMPRESSED, &["llc.prediction=none"]),
    (
        "morpheus-compression",
        COMPRESSED,
        &["llc.filter_bytes=1", "llc.read_buffers=1", "llc.write_buffers=1"],
    ),
    ("morpheus-basic", &[], &["llc.insertions=after-requests"]),
    ("morpheus-all", COMPRESSED, &["llc.insertions=dropped-when-busy"]),
    ("morpheus-basic", &[], &["llc.shared.warps=3"]),
    ("morpheus-indirect-mov", &[], &["llc.shared.warps=0"]),
    ("morpheus-all", COMPRESSED, &["llc.shared.warps=2", "llc.shared.ways=2"]),
    ("morpheus-basic", &[], &["llc.ways=33", "llc.shared.ways=34", "llc.conventional.sets=1"]),
    ("morpheus-basic", &[], &["llc.late_misses=warp", "llc.shared.warps=2"]),
    ("morpheus-basic", &[], &["llc.gather_cycles=0"]),
    ("morpheus-all", COMPRESSED, &["llc.gather_cycles=20", "llc.late_misses=warp"]),
    ("morpheus-no-prediction", &[], &["llc.gather_cycles=5000"]),
    ("morpheus-basic", &[], &["llc.l1.warps=1", "llc.l1.ways=4"]),
    (
        "morpheus-all",
        COMPRESSED,
        &["llc.shared.warps=0", "llc.l1.warps=2", "llc.l1.ways=2", "llc.launches=by-place"],
    ),
    (
        "morpheus-indirect-mov",
        &[],
        &["llc.shared.warps=0", "llc.l1.warps=3", "llc.l1.ways=9", "llc.wait=polled"],
    ),
    ("morpheus-no-prediction", &[], &["llc.l1.warps=2", "llc.l1.ways=1", "l1d.sets=2", "l1d.ways=1"]),
    ("morpheus-basic", &[], &["llc.launches=by-place", "llc.shared.warps=2"]),
    ("morpheus-compression", COMPRESSED, &["llc.compression.counts=epoch", "llc.launches=by-place"]),
    (OF_COST, &[], &[]),
    ("morpheus-free", &[], &["llc.gather_cycles=2"]),
    (OF_COST, &[], &["llc.ways=1", "llc.prediction=none", "llc.insertions=after-requests"]),
];

fn variation((system, compressed, sets): (&'static str, &[&str], &[&str]), stream: &mut Stream) -> Variation {
    let all = SMALL.iter().chain(compressed).chain(sets);
    let sets = all.filter_map(|set| of_system(system, set)).collect();
    let (threads, window) = if stream.below(16) == 0 { (2, 1) } else { (1, stream.below(4) as usize) };
    Variation { systems: vec![system], sets, threads, window, limit: 200_000_000 }
}

/// A shape of many lines: more than all levels hold.
fn shape(stream: &mut Stream) -> Shape {
    let mut below = |bound: u64| stream.below(bound) as u32;
    Shape {
        grid: 1 + below(5),
        block: [32, 64, 128][below(3) as usize],
        lines: 1 + below(60),
        episodes: 2 + below(5),
        steps: 1 + below(4),
        between: [Between::Launches, Between::GridBarrier][below(2) as usize],
        seed: stream.next(),
    }
}

fn random_program(seed: u64) -> program::Program {
    let config = Config { rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() };
    let tree = program::program().new_tree(&mut TestRunner::new(config));
    tree.expect("a program can always be made").current()
}

/// An episode by number.
fn episode(number: u64) {
    let mut stream = Stream::new(number, "morpheus");
    let variant = VARIANTS[number as usize % VARIANTS.len()];
    let variation = variation(variant, &mut stream);
    let outcome = if (number / VARIANTS.len() as u64).is_multiple_of(2) {
        check(shape(&mut stream), &variation, &mut |_, l1d| l1d)
    } else {
        let program = random_program(number);
        compare::compare(&program, &variation, number, &text::text(&program), &mut |_, l1d| l1d)
    };
    outcome.unwrap_or_else(|error| panic!("episode {number}, {variant:?}: {error}"));
}

#[test]
fn random_episodes() {
    (0..200).for_each(episode);
}

/// Ten thousand: `cargo test --release -p strata-gpu --test machine morpheus::episodes::campaign -- --ignored`.
#[test]
#[ignore = "takes an hour"]
fn campaign() {
    for number in 200..10_200 {
        episode(number);
        if number % 100 == 99 {
            println!("{number}");
        }
    }
}
