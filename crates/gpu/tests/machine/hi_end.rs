//! The register files of Hi-End in a whole machine: results are right, laws hold, skipping equals ticking, and they
//! stand in one machine with FUSE's L1D.

use crate::support::{How, run_on, ticked, verified};
use strata_gpu::machine::Machine;
use strata_workloads::{Size, find};

const SYSTEMS: &[&str] = &["sram", "stt", "stt-wb-bdi", "hi-end", "hi-end-without-bwl"];

/// A register cache and a delay buffer of which something is always full.
const TINY: &[&str] = &[
    "sm.register_file.hierarchical.register_cache.lines=5",
    "sm.register_file.hierarchical.register_cache.banks=2",
    "sm.register_file.hierarchical.delay_buffer.entries=2",
    "sm.register_file.hierarchical.delay_buffer.eager_from=1",
];

const KEPT: &[&str] = &["sm.register_file.hierarchical.dead_rows=written"];

fn machine(base: &str, systems: &[&str], sets: &[&str]) -> Machine {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load_with(base, systems, &sets).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_workload_is_right_on_every_system() {
    for workload in strata_workloads::all() {
        let program = workload.program(Size::Test).expect("every workload has it");
        for system in SYSTEMS {
            let machine = machine("gtx480", &[system], &[]);
            let result = verified(&machine, program.as_ref(), How { check: true, ..How::PLAIN }, system);
            for group in &result.statistics {
                assert_eq!(group.broken, None, "{}, {system}", workload.name);
            }
        }
    }
}

#[test]
fn threads_and_windows_change_no_number() {
    for (name, systems, sets) in [
        ("bfs", &["hi-end"] as &[&str], TINY),
        ("heartwall", &["hi-end"], KEPT),
        ("gather", &["stt-wb-bdi"], &["sm.register_file.hierarchical.write_buffer.entries=1"]),
        ("gemm", &["stt"], &[]),
        ("histogram", &["dy-fuse", "hi-end"], TINY),
    ] {
        for base in ["gtx480", "volta-fuse"] {
            let machine = machine(base, systems, sets);
            let program = find(name).unwrap().program(Size::Test).unwrap();
            let what = format!("{systems:?} on {base}");
            let one = verified(&machine, program.as_ref(), How::CHECKED, &what);
            for (threads, window) in [(1, Some(1)), (2, Some(3)), (4, None)] {
                let how = How { threads, window, ..How::PLAIN };
                let other = verified(&machine, program.as_ref(), how, &what);
                assert_eq!(one.statistics, other.statistics, "{name} {what}: {threads}, {window:?}");
                assert_eq!(
                    one.statistics_hash(),
                    other.statistics_hash(),
                    "{name} {what}: {threads}, {window:?}"
                );
            }
        }
    }
}

#[test]
fn skipping_is_ticking() {
    for (workload, system, sets) in [
        ("bfs", "hi-end", TINY),
        ("histogram", "hi-end", &[]),
        ("mum", "hi-end-without-bwl", TINY),
        ("nw", "hi-end", KEPT),
        ("hotspot", "stt-wb-bdi", &[]),
        ("atax", "stt", &[]),
    ] {
        let machine = machine("gtx480", &[system], sets);
        let program = find(workload).unwrap().program(Size::Test).unwrap();
        let skipping = run_on(&machine, program.as_ref(), How::PLAIN).unwrap();
        let (launches, statistics) = ticked(&machine, program.as_ref());
        assert_eq!(skipping.launches, launches, "{workload} on {system}");
        let mut compared = 0;
        for (one, other) in skipping.statistics.iter().zip(&statistics) {
            if one.name.starts_with("register_") {
                compared += 1;
                for ((definition, one), other) in one.definitions.iter().zip(&one.values).zip(&other.values) {
                    assert_eq!(one, other, "{workload} on {system}: {}", definition.name);
                }
            }
        }
        assert!(compared >= 3, "{compared} groups of the register file");
    }
}

#[test]
fn a_tag_too_narrow_for_the_machine_is_refused() {
    let machine = machine("gtx480", &["hi-end"], &["sm.registers_per_thread=40"]);
    let program = find("saxpy").unwrap().program(Size::Test).unwrap();
    let Err(error) = run_on(&machine, program.as_ref(), How::PLAIN) else { panic!("it runs") };
    let error = error.to_string();
    assert!(
        error.contains(
            "register_cache.register_bits: must name each of a thread's 40 registers (sm.registers_per_thread), \
             found 5: 32 of them"
        ),
        "{error}"
    );
}
