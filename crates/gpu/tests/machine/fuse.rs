//! The L1Ds of FUSE in a whole machine: results are right, laws hold, and skipping equals ticking.

use crate::support::{How, run_on, ticked, verified};
use strata_gpu::machine::Machine;
use strata_workloads::{Size, find};

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
    Machine::load_with("gtx480", &[system], &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// Workloads of FUSE's Table II.
const WORKLOADS: &[&str] = &[
    "2dconv",
    "2mm",
    "gaussian",
    "3mm",
    "srad_v1",
    "gemm",
    "atax",
    "syr2k",
    "bicg",
    "histo",
    "gesummv",
    "mri-gridding",
    "fdtd-2d",
    "pathfinder",
    "mvt",
    "cfd",
    "ii",
    "pvc",
    "ss",
    "sm",
    "pvr",
];

#[test]
fn every_workload_of_table_ii_is_right_on_every_system() {
    for name in WORKLOADS {
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

/// FUSE section V-B puts Dy-FUSE in a Volta: 84 SMs with four schedulers each.
#[test]
fn dy_fuse_is_right_under_every_scheduler_on_both_machines() {
    let schedulings =
        ["greedy-then-oldest", "loose-round-robin", "switch-on-memory", "{ two-level = { active = 6 } }"];
    for base in ["gtx480", "volta-fuse"] {
        for scheduling in schedulings {
            let sets = [format!("sm.scheduling={scheduling}")];
            let machine = Machine::load_with(base, &["dy-fuse"], &sets).unwrap();
            for name in ["2dconv", "bicg", "histo", "pathfinder", "syr2k"] {
                let what = format!("{base} {scheduling}");
                let program = find(name).unwrap().program(Size::Test).unwrap();
                let result = verified(&machine, program.as_ref(), How::CHECKED, &what);
                let how = How { threads: 2, window: Some(3), ..How::PLAIN };
                let other = verified(&machine, program.as_ref(), how, &what);
                assert_eq!(result.statistics_hash(), other.statistics_hash(), "{name} on {what}");
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
        ("fdtd-2d", "l1-sram", &["l1d.sram.allocate=on-fill", "l1d.sram.sets=4"]),
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
