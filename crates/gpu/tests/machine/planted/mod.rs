//! Planted bugs: the other tests here must catch an L1D that loses, mixes up or keeps bytes, and say where.

mod l1d;

use crate::false_sharing::episodes::{self, Between, Shape};
use crate::litmus;
use crate::random_programs::{compare, program, text};
use crate::support::variation::Variation;
use l1d::{Bug, Planted};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use strata_memory::doors::L1d;

/// The test that runs on the machine with the bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Harness {
    Programs,
    Launches,
    GridBarriers,
    Litmus,
}

/// How a bug shows.
#[derive(Clone, Copy, Debug)]
enum Sign {
    /// Memory has wrong bytes.
    Bytes,
    /// An outcome that the memory model forbids.
    Forbidden,
    /// A deadlock report that contains all of these texts.
    Report(&'static [&'static str]),
}

impl Harness {
    /// Maximum number of tries to catch a bug; the correct machine passes all of them.
    fn tries(self) -> u64 {
        match self {
            Harness::Programs => 60,
            Harness::Launches | Harness::GridBarriers => 12,
            Harness::Litmus => 1,
        }
    }
}

/// A small machine with an L1D of a few sets.
fn variation(l1d_sets: u32) -> Variation {
    let sets = ["gpu.sms=3", "gpu.channels=2", "gpu.memory_mib=16", "gpu.watchdog_cycles=20000"];
    let sets = sets.iter().map(ToString::to_string).chain([format!("l1d.sram.sets={l1d_sets}")]).collect();
    Variation { systems: Vec::new(), sets, threads: 1, window: 1, limit: 400_000 }
}

fn episodes(bug: Bug, between: Between, seed: u64) -> Result<(), String> {
    let shape = Shape { grid: 3, block: 64, lines: 6, episodes: 4, steps: 4, between, seed };
    // Evictions provide opportunities to lose bytes, but would hide a stale copy.
    let sets = if bug == Bug::CopiesKept { 64 } else { 1 };
    episodes::check(shape, &variation(sets), &mut |_, l1d| Box::new(Planted::new(l1d, bug, 5)))
}

fn program(bug: Bug, seed: u64) -> Result<(), String> {
    let config = Config { rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() };
    let tree =
        program::program().new_tree(&mut TestRunner::new(config)).expect("a program can always be made");
    let program = tree.current();
    let text = text::text(&program);
    compare::compare(&program, &variation(64), seed, &text, &mut |_, l1d| Box::new(Planted::new(l1d, bug, 5)))
}

/// Runs every litmus test; the seed has no influence.
fn litmus(bug: Bug) -> Result<(), String> {
    let sets = ["gpu.watchdog_cycles=20000"];
    for test in litmus::tests::TESTS.iter().filter(|test| !test.shown) {
        let mut make = |_, l1d| Box::new(Planted::new(l1d, bug, 5)) as Box<dyn L1d>;
        let seen = litmus::outcomes::outcomes(test, (&[], &sets), 1, &mut make)
            .map_err(|error| error.to_string())?;
        if let Some(outcome) = seen.iter().find(|outcome| (test.forbidden)(outcome)) {
            return Err(format!("{}: forbidden {outcome:?}", test.name));
        }
    }
    Ok(())
}

fn run(bug: Bug, harness: Harness, seed: u64) -> Result<(), String> {
    match harness {
        Harness::Programs => program(bug, seed),
        Harness::Launches => episodes(bug, Between::Launches, seed),
        Harness::GridBarriers => episodes(bug, Between::GridBarrierOneFence, seed),
        Harness::Litmus => litmus(bug),
    }
}

#[test]
fn the_right_machine_passes() {
    for harness in [Harness::Programs, Harness::Launches, Harness::GridBarriers] {
        for seed in 0..harness.tries() {
            run(Bug::None, harness, seed).unwrap_or_else(|error| panic!("{harness:?}, seed {seed}: {error}"));
        }
    }
}

#[test]
fn every_planted_bug_is_caught() {
    use Bug::*;
    use Harness::*;
    // After a lost completion only the warp waits; after a lost reply the MSHR waits too.
    const WARP: Sign = Sign::Report(&["can never finish", "SM", "waits for values from memory"]);
    const MSHR: Sign =
        Sign::Report(&["can never finish", "waits for values from memory", "accesses wait for line"]);
    const NEVER: Sign = Sign::Report(&["reached the cycle limit"]);
    for (bug, harness, sign) in [
        (DirtyByteLost, Programs, Sign::Bytes),
        (DirtyByteLost, Launches, Sign::Bytes),
        (DirtyByteLost, GridBarriers, Sign::Bytes),
        (WholeLineWritten, Programs, Sign::Bytes),
        (WholeLineWritten, Launches, Sign::Bytes),
        (WholeLineWritten, GridBarriers, Sign::Bytes),
        (CompletionLost, Programs, WARP),
        (CompletionLost, Launches, WARP),
        (StaleMerge, Programs, Sign::Bytes),
        (StaleMerge, Launches, Sign::Bytes),
        (CopiesKept, Programs, Sign::Bytes),
        (CopiesKept, Launches, Sign::Bytes),
        (CopiesKept, GridBarriers, Sign::Bytes),
        (FlushedEarly, GridBarriers, Sign::Bytes),
        (TraysSwapped, Programs, Sign::Bytes),
        (TraysSwapped, Launches, Sign::Bytes),
        (ReplyLost, Programs, MSHR),
        (ReplyLost, Launches, MSHR),
        (BypassIgnored, GridBarriers, NEVER),
        (CopiesKept, Litmus, Sign::Forbidden),
        (FlushedEarly, Litmus, Sign::Forbidden),
        (StaleMerge, Litmus, Sign::Forbidden),
        (ReplyLost, Litmus, MSHR),
    ] {
        let expected = match sign {
            Sign::Bytes => &["expected"][..],
            Sign::Forbidden => &["forbidden"],
            Sign::Report(words) => words,
        };
        // A wrong value may also lead a program astray before anyone compares it; another seed shows it.
        let errors = (0..harness.tries()).filter_map(|seed| run(bug, harness, seed).err());
        let mut astray = Vec::new();
        let caught = errors.into_iter().find(|error| {
            let is_caught = expected.iter().all(|word| error.contains(word));
            astray.extend((!is_caught).then(|| error.clone()));
            is_caught
        });
        let error =
            caught.unwrap_or_else(|| panic!("{bug:?} by {harness:?}: {expected:?} in none of {astray:#?}"));
        println!("{bug:?} by {harness:?}: {error}");
    }
}
