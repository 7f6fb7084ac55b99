//! Machines with any of their numbers changed. Those that the check lets pass run a small kernel that meets every
//! part, and all of memory is compared with the reference executor's after every launch.

use proptest::prelude::*;
use strata_gpu::RunError;
use strata_gpu::machine::Machine;
use strata_gpu::results::Verdict;
use toml::Value;

use crate::corpus::machine::{Everything, is_small};
use crate::support::{How, random, run_on};

/// Machines that must run.
const MACHINES: u32 = 1000;

/// Numbers that are tried; about every second set of them is a machine.
const TRIES: u32 = 2400;

/// Settings of every machine: small, and given up soon.
const BASE: &[&str] = &["gpu.sms=3", "gpu.channels=2", "gpu.memory_mib=16", "gpu.watchdog_cycles=100000"];

/// Cycles that the slowest machine may take.
const MOST_CYCLES: u64 = 2_000_000;

/// The keys of the built-in gtx480 that hold a whole number, with the number; those of [`BASE`] and energies aside.
fn numbers() -> Vec<(String, i64)> {
    let machine = Machine::load("gtx480", &[]).expect("a built-in machine");
    let is_changed = |path: &str| {
        !path.starts_with("energy.") && !BASE.iter().any(|set| set.starts_with(&format!("{path}=")))
    };
    let numbers = machine.values().into_iter().filter_map(|of| match of.value {
        Value::Integer(number) if is_changed(&of.path) => Some((of.path, number)),
        _ => None,
    });
    numbers.collect()
}

/// Another number like one in the file.
fn other(number: i64, choice: usize) -> i64 {
    [1, 2, 3, number / 2, number * 2, number + 1, number - 1, number * 4][choice % 8]
}

#[test]
fn machines_that_pass_the_check_compute_what_they_should() {
    let numbers = numbers();
    assert!(numbers.len() > 100, "{}", numbers.len());
    let changes = prop::collection::vec((0..numbers.len(), 0..8_usize), 1..5);
    let sub_cores = prop_oneof![2 => Just(None), 1 => Just(Some("sm.sub_cores=true"))];
    let sets = (changes, sub_cores).prop_map(move |(changes, sub_cores)| {
        let changes = changes.into_iter().map(|(key, choice)| {
            let (path, number) = &numbers[key];
            format!("{path}={}", other(*number, choice))
        });
        BASE.iter().copied().chain(sub_cores).map(ToString::to_string).chain(changes).collect::<Vec<String>>()
    });
    let ran = std::cell::Cell::new(0);
    random::check(TRIES, 50, &sets, |sets| {
        let Ok(machine) = Machine::load("gtx480", &sets) else { return Ok(()) };
        if !is_small(&machine) {
            return Ok(());
        }
        let how = How { max_cycles: Some(MOST_CYCLES), ..How::CHECKED };
        match run_on(&machine, &Everything, how) {
            Ok(result) if result.verdict == Verdict::Verified => {
                ran.set(ran.get() + 1);
                Ok(())
            }
            Ok(result) => Err(format!("{sets:?}: {:?}", result.verdict)),
            // Parts that do not fit each other are found when they are put together.
            Err(RunError::Refused(_)) => Ok(()),
            Err(error) if error.to_string().contains("does not fit an SM") => Ok(()),
            Err(error) => Err(format!("{sets:?}: {error}")),
        }
    });
    assert!(ran.get() >= MACHINES, "{} of {TRIES} ran", ran.get());
}
