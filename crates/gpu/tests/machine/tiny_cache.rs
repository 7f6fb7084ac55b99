//! tinyCaches in a whole machine: results are right, laws hold, skipping equals ticking, and they stand in one machine
//! with FUSE's L1D and Hi-End's register file.

use crate::support::{How, run_on, ticked, verified};
use strata_gpu::machine::Machine;
use strata_workloads::{Size, find};

/// A single line, which is always replaced.
const TINY: &[&str] = &["lane_path.tiny-cache.lines=1", "lane_path.tiny-cache.ways=1"];

const BLOCK: &[&str] = &["lane_path.tiny-cache.barrier=block", "lane_path.tiny-cache.line_bytes=32"];

fn machine(base: &str, systems: &[&str], sets: &[&str]) -> Machine {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load_with(base, systems, &sets).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_workload_is_right() {
    for workload in strata_workloads::all() {
        let program = workload.program(Size::Test).expect("every workload has it");
        let machine = machine("gtx480", &["tcbase"], &[]);
        let result = verified(&machine, program.as_ref(), How::CHECKED, "tcbase");
        for group in &result.statistics {
            assert_eq!(group.broken, None, "{}", workload.name);
        }
    }
}

#[test]
fn results_are_right_on_every_system() {
    for name in
        ["backprop", "bfs", "sepconv", "hotspot", "saxpy", "sgemm", "parboil-spmv", "srad_v2", "transpose"]
    {
        let program = find(name).unwrap().program(Size::Test).unwrap();
        for (system, sets) in
            [("tcbase", TINY), ("tcbase", BLOCK), ("bypass-shared", &[]), ("bypass-global", &[])]
        {
            let machine = machine("gtx480", &[system], sets);
            let what = format!("{system} {sets:?}");
            verified(&machine, program.as_ref(), How::CHECKED, &what);
        }
    }
}

#[test]
fn it_composes_with_an_l1d_and_a_register_file() {
    for name in
        ["gemm", "atax", "bfs", "sgemm", "hotspot", "backprop", "spmv", "kmeans", "histogram", "reduction"]
    {
        let machine = machine("gtx480", &["dy-fuse", "hi-end", "tcbase"], &[]);
        let program = find(name).unwrap().program(Size::Test).unwrap();
        verified(&machine, program.as_ref(), How::CHECKED, "dy-fuse, hi-end and tcbase");
    }
}

#[test]
fn threads_and_windows_change_no_number() {
    for (name, systems, sets) in [
        ("bfs", &["tcbase"] as &[&str], TINY),
        ("hotspot", &["tcbase"], BLOCK),
        ("sgemm", &["bypass-global"], &[]),
        ("histogram", &["dy-fuse", "hi-end", "tcbase"], &[]),
    ] {
        for base in ["gtx480", "volta-fuse", "fermi-apu"] {
            let machine = machine(base, systems, sets);
            let program = find(name).unwrap().program(Size::Test).unwrap();
            let what = format!("{systems:?} on {base}");
            let one = verified(&machine, program.as_ref(), How::CHECKED, &what);
            for (threads, window) in [(1, Some(1)), (2, Some(3)), (4, None)] {
                let how = How { threads, window, ..How::PLAIN };
                let other = verified(&machine, program.as_ref(), how, &what);
                assert_eq!(one.statistics, other.statistics, "{name} {what}: {threads}, {window:?}");
            }
        }
    }
}

#[test]
fn skipping_is_ticking() {
    for (workload, system, sets) in [
        ("bfs", "tcbase", TINY),
        ("sgemm", "tcbase", &[]),
        ("histogram", "tcbase", BLOCK),
        ("backprop", "bypass-shared", &[]),
        ("lud", "bypass-global", &[]),
        ("atax", "tcbase", &[]),
    ] {
        let machine = machine("gtx480", &[system], sets);
        let program = find(workload).unwrap().program(Size::Test).unwrap();
        let skipping = run_on(&machine, program.as_ref(), How::PLAIN).unwrap();
        let (launches, statistics) = ticked(&machine, program.as_ref());
        assert_eq!(skipping.launches, launches, "{workload} on {system}");
        let caches = |group: &&strata_engine::statistics::Group| group.name == "tiny_cache";
        let (one, other) = (skipping.statistics.iter().find(caches), statistics.iter().find(caches));
        assert!(one.is_some() && one == other, "{workload} on {system}: {one:?}, {other:?}");
    }
}
