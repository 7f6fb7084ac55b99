//! tinyCaches in a whole machine: results are right, laws hold, skipping equals ticking, and they stand in one machine
//! with FUSE's L1D and Hi-End's register file.

use crate::support::{How, PLAIN, counter, module, on_device, run_on, ticked, verified};
use strata_gpu::machine::Machine;
use strata_gpu::results::RunResult;
use strata_workloads::{Arg, Device, Shape, Size, find};

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
fn parameters_and_constants_may_go_through_the_caches() {
    let count = |result: &RunResult, group: &str, name: &str| -> u64 {
        let groups = result.statistics.iter().filter(|found| found.name == group);
        groups.filter_map(|found| found.get(name)).sum()
    };
    for name in [
        "backprop",
        "bfs",
        "sepconv",
        "hotspot",
        "saxpy",
        "sgemm",
        "parboil-spmv",
        "srad_v2",
        "transpose",
        "spmv",
    ] {
        let program = find(name).unwrap().program(Size::Test).unwrap();
        let runs = |system: &str| {
            ["own-paths", "as-global"].map(|way| {
                let way = format!("lsu.read_only={way}");
                let machine = machine("fermi-apu", &[system], &[&way]);
                verified(&machine, program.as_ref(), How::CHECKED, &format!("{system}, {way}"))
            })
        };
        let [own, all] = runs("tcbase");
        assert_eq!(count(&all, "lsu", "constant_instructions"), 0, "{name}");
        assert_eq!(count(&all, "constant_cache", "accesses"), 0, "{name}");
        let loads = |result: &RunResult| count(result, "tiny_cache", "global_loads");
        assert!(loads(&all) > loads(&own), "{name}: {} and {}", loads(&all), loads(&own));
        // Without tinyCaches the same loads go to the DL1G.
        let [without, with] = runs("notc");
        let asked = |result: &RunResult| count(result, "lsu", "lane_addresses");
        assert_eq!(asked(&with) - asked(&without), loads(&all) - loads(&own), "{name}");
    }
}

#[test]
fn a_parameter_is_a_load_of_each_lane_that_is_counted_as_global() {
    let text = module(
        ".visible .entry k(.param .u64 out, .param .u32 left, .param .u32 right) {\n\
         .reg .b32 %r<8>; .reg .b64 %rd<4>;\n\
         ld.param.u64 %rd0, [out]; ld.param.u32 %r0, [left]; ld.param.u32 %r1, [right];\n\
         add.u32 %r2, %r0, %r1; mov.u32 %r3, %tid.x; mul.wide.u32 %rd1, %r3, 4; add.u64 %rd2, %rd0, %rd1;\n\
         st.global.u32 [%rd2], %r2;\nret;\n}\n",
    );
    let launched = |way: &str| {
        let machine = machine("fermi-apu", &["tcbase"], &["gpu.memory_mib=64", way]);
        on_device(&machine, PLAIN, &text, |device| {
            let out = device.alloc("out", 1024).unwrap();
            let shape = Shape::new([1, 1, 1], [40, 1, 1]);
            device.launch("k", shape, &[Arg::Ptr(out), Arg::U32(1900), Arg::U32(126)]).unwrap();
            let mut bytes = vec![0; 160];
            device.download(out, &mut bytes).unwrap();
            assert!(bytes.chunks_exact(4).all(|word| word == 2026u32.to_le_bytes()), "{way}");
            [
                counter(device, "lsu", "loads"),
                counter(device, "lsu", "global_instructions"),
                counter(device, "tiny_cache", "global_loads"),
            ]
        })
    };
    // Two warps, of 32 and 8 lanes, store once, and load three parameters.
    assert_eq!(launched("lsu.read_only=own-paths"), [0, 2, 0]);
    assert_eq!(launched("lsu.read_only=as-global"), [6, 8, 120]);
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
