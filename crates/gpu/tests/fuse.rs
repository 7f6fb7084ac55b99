//! The L1Ds of FUSE in a whole machine: right results, laws that hold, and skipping that equals ticking.

mod support;

use strata_gpu::machine::Machine;
use strata_workloads::{Size, find};
use support::{How, run_on, ticked, verified};

const SYSTEMS: &[&str] = &[
    "l1-sram",
    "fa-sram",
    "oracle",
    "stt-mram",
    "by-nvm",
    "victim-buffer",
    "hybrid",
    "base-fuse",
    "fa-fuse",
    "fa-fuse-true",
    "dy-fuse",
];

/// A GTX 480 with a system's L1D in place of its own.
fn machine(system: &str, sets: &[&str]) -> Machine {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load_with("gtx480", Some(system), &sets).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_system_computes_what_the_host_does() {
    for name in ["atax", "bfs", "histogram", "fdtd-2d", "gemm"] {
        let program = find(name).unwrap().program(Size::Test).unwrap();
        for system in SYSTEMS {
            let machine = machine(system, &[]);
            let result = verified(&machine, program.as_ref(), How { check: true, ..How::PLAIN }, system);
            for group in &result.statistics {
                assert_eq!(group.broken, None, "{name}, {system}");
            }
        }
    }
}

#[test]
fn skipping_is_ticking() {
    let tiny: &[&str] = &[
        "l1d.fuse.sram.sets=2",
        "l1d.fuse.mshr_entries=4",
        "l1d.fuse.miss_queue=2",
        "l1d.fuse.write_buffer=3",
        "l1d.fuse.bypass_entries=1",
    ];
    for (workload, system, sets) in [
        ("bfs", "hybrid", &[] as &[&str]),
        ("histogram", "dy-fuse", &[]),
        ("fdtd-2d", "dy-fuse", tiny),
        ("atax", "base-fuse", tiny),
        ("bfs", "by-nvm", &["l1d.fuse.stt.sets=8"]),
    ] {
        let machine = machine(system, sets);
        let program = find(workload).unwrap().program(Size::Test).unwrap();
        let skipping = run_on(&machine, program.as_ref(), How::PLAIN).unwrap();
        let (launches, statistics) = ticked(&machine, program.as_ref());
        assert_eq!(skipping.launches, launches, "{workload} on {system}");
        for (one, other) in skipping.statistics.iter().zip(&statistics) {
            if ["l1d", "fuse"].contains(&one.name) {
                for ((definition, one), other) in one.definitions.iter().zip(&one.values).zip(&other.values) {
                    assert_eq!(one, other, "{workload} on {system}: {}", definition.name);
                }
            }
        }
    }
}
