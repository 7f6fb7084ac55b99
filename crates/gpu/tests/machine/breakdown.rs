//! Counters by SM, slice, channel and launch: they add up to the run's, and name the part that is to blame.

use strata_engine::statistics::Group;
use strata_gpu::machine::Machine;
use strata_gpu::region::Region;
use strata_gpu::results::{Breakdown, By, RunResult, merge_groups};
use strata_gpu::{RunRequest, run};
use strata_memory::NodeId;
use strata_memory::address::Address;
use strata_workloads::{Arg, Device, HostProgram, Shape, Size, all, find};

use crate::support::{PLAIN, module, on_device};

fn broken_down(machine: &Machine, program: &dyn HostProgram, region: Region) -> RunResult {
    let mut progress = |_: &strata_gpu::Progress| {};
    let mut so_far = |_: &mut dyn FnMut() -> RunResult| ();
    let request = RunRequest {
        by: &By::ALL,
        region,
        ..RunRequest::plain(program, machine, &mut progress, &mut so_far)
    };
    run(request).unwrap_or_else(|error| panic!("{}: {error}", program.name()))
}

/// The parts' groups added up are the run's groups of the same names.
fn adds_up(breakdown: &Breakdown, all: &[Group], what: &str) {
    let mut sum = Vec::new();
    for part in &breakdown.parts {
        merge_groups(&mut sum, part.groups.clone());
    }
    assert!(!sum.is_empty(), "{what}: by {} there is nothing", breakdown.by);
    for group in &sum {
        let whole =
            all.iter().find(|whole| whole.name == group.name).expect("a run has the groups of its parts");
        assert_eq!(group.values, whole.values, "{what}: {} by {}", group.name, breakdown.by);
    }
    if breakdown.by == By::Launch {
        assert_eq!(sum.len(), all.len(), "{what}: a launch has all groups");
    }
}

fn check(machine: &Machine, workload: &str, region: Region) -> RunResult {
    let program = find(workload).expect("a built-in workload").program(Size::Test).expect("it has the size");
    let result = broken_down(machine, program.as_ref(), region);
    assert_eq!(result.breakdowns.len(), By::ALL.len());
    result.breakdowns.iter().for_each(|breakdown| adds_up(breakdown, &result.statistics, workload));
    result
}

#[test]
fn sums_are_totals_on_all_workloads() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    for workload in all() {
        check(&machine, workload.name, Region::default());
    }
}

#[test]
fn sums_are_totals_on_all_kinds_of_machine() {
    let sets = |sets: &[&str]| sets.iter().map(|set| (*set).to_owned()).collect::<Vec<_>>();
    for (name, systems, overrides, workload) in [
        ("v100", &[][..], &[][..], "bfs"),
        ("rtx3080-quarter", &["morpheus-all"], &["gpu.cache_sms=3", "gpu.gated_sms=2"], "atax"),
        ("rtx3080-quarter", &["morpheus-as-published"], &["gpu.cache_sms=3"], "kmeans"),
        ("stash-apu", &["stash"], &[], "implicit@stash"),
        ("gtx480", &["dy-fuse", "hi-end"], &[], "bfs"),
        ("fermi-apu", &["tcbase"], &[], "hotspot"),
    ] {
        let machine =
            Machine::load_with(name, systems, &sets(overrides)).unwrap_or_else(|error| panic!("{error}"));
        check(&machine, workload, Region::default());
    }
}

/// Of a region, what its launches counted.
#[test]
fn sums_are_totals_of_a_region() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let whole = check(&machine, "bfs", Region::default());
    let region = Region { from: Some(2), to: Some(4), ..Region::default() };
    let some = check(&machine, "bfs", Region { warm: true, ..region });
    let by_launch = |result: &RunResult| {
        result
            .breakdowns
            .iter()
            .find(|breakdown| breakdown.by == By::Launch)
            .expect("it was asked for")
            .clone()
    };
    // Warm launches are the whole run's.
    assert_eq!(by_launch(&some).parts, by_launch(&whole).parts[2..=4]);
}

/// One CTA runs on one SM, and loads lines of one channel: that SM and that channel have all of the work.
#[test]
fn the_busy_sm_and_channel_are_named() {
    const TEXT: &str = ".visible .entry k(.param .u64 data, .param .u64 lines) {\n\
        .reg .b64 %a, %b;\n.reg .b32 %t, %v;\n\
        mov.u32 %t, %tid.x;\nld.param.u64 %a, [lines];\nmad.wide.u32 %a, %t, 4, %a;\nld.global.u32 %v, [%a];\n\
        ld.param.u64 %b, [data];\nmad.wide.u32 %b, %v, 128, %b;\nld.global.cg.u32 %v, [%b];\nst.global.u32 [%b], %v;\nret;\n}\n";
    const CHANNEL: u16 = 3;
    let machine = Machine::load("gtx480", &[]).unwrap();
    let map = machine.file().gpu.address_map(NodeId(0)).unwrap();
    on_device(&machine, PLAIN, &module(TEXT), |device| {
        let data = device.alloc("data", 1 << 20).unwrap();
        let lines = device.alloc("lines", 256).unwrap();
        let of_channel = |line: &u32| {
            let home = map.home(Address(data.0 + u64::from(*line) * 128).line());
            map.channel_of(home.slice).0 == CHANNEL
        };
        let chosen: Vec<u8> = (0..8192).filter(of_channel).take(64).flat_map(u32::to_le_bytes).collect();
        device.upload(lines, &chosen).unwrap();
        device.gpu().break_down(&By::ALL);
        device.launch("k", Shape::new([1, 1, 1], [64, 1, 1]), &[Arg::Ptr(data), Arg::Ptr(lines)]).unwrap();
        let breakdowns = device.gpu().breakdowns().to_vec();
        let of = |by, path: &str| {
            breakdowns.iter().find(|breakdown| breakdown.by == by).expect("it was asked for").counter(path)
        };
        let busy: Vec<usize> = of(By::Sm, "sm.warp_instructions")
            .iter()
            .enumerate()
            .filter(|(_, count)| **count != Some(0))
            .map(|(sm, _)| sm)
            .collect();
        assert_eq!(busy.len(), 1);
        let reads = of(By::Channel, "dram.reads");
        let all: u64 = reads.iter().flatten().sum();
        let [of_channel, others] =
            [reads[usize::from(CHANNEL)].unwrap(), all - reads[usize::from(CHANNEL)].unwrap()];
        // Code, parameters and the list lie elsewhere.
        assert!(of_channel >= 64 && others < of_channel, "{reads:?}");
    });
}
