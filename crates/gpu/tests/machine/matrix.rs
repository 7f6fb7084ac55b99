//! Every workload on many machines: right results whatever the machine, and the same numbers however it is simulated.

use crate::support::{How, four_clocks, gtx480, verified};
use strata_gpu::machine::Machine;
use strata_workloads::{Size, Workload, find};

const SCHEDULINGS: &[&str] = &[
    "sm.scheduling=greedy-then-oldest",
    "sm.scheduling=loose-round-robin",
    "sm.scheduling={ two-level = { active = 6 } }",
];

const WRITE_POLICIES: &[&str] = &["l1d.sram.write_policy=write-back", "l1d.sram.write_policy=write-through"];

/// A workload checked against the reference executor, then again on other threads and windows: the counters must
/// be the same, and hold their laws.
fn check(workload: &'static Workload, sets: &[&str], others: &[(usize, Option<u64>)]) {
    check_on(&gtx480(sets), workload, sets, others);
}

fn check_on(machine: &Machine, workload: &'static Workload, sets: &[&str], others: &[(usize, Option<u64>)]) {
    let program = workload.program(Size::Test).expect("every workload has it");
    let what = format!("{sets:?}");
    let result = verified(machine, program.as_ref(), How::CHECKED, &what);
    assert!(result.statistics.iter().all(|group| group.broken.is_none()), "{} {what}", workload.name);
    for &(threads, window) in others {
        let how = How { threads, window, ..How::PLAIN };
        let other = verified(machine, program.as_ref(), how, &what);
        let name = workload.name;
        assert_eq!(other.launches, result.launches, "{name} {what}: {threads} threads, window {window:?}");
        assert_eq!(
            other.statistics, result.statistics,
            "{name} {what}: {threads} threads, window {window:?}"
        );
        assert_eq!(other.statistics_hash(), result.statistics_hash());
    }
}

/// Every workload on one of the six machines: workloads that follow each other meet all of them.
#[test]
fn every_workload_on_a_machine() {
    for (index, workload) in strata_workloads::all().iter().enumerate() {
        let scheduling = SCHEDULINGS[index % SCHEDULINGS.len()];
        let policy = WRITE_POLICIES[index / SCHEDULINGS.len() % WRITE_POLICIES.len()];
        check(workload, &[scheduling, policy], &[]);
    }
}

/// Workloads as different as possible: coalesced and not, with barriers, shared memory, atomics, divergence, host loops.
const VARIED: &[&str] = &["atax", "bfs", "gather", "gemm", "histogram", "hotspot", "spmv", "transpose"];

#[test]
fn varied_workloads_on_every_machine() {
    for name in VARIED {
        let workload = find(name).expect("a built-in workload");
        for scheduling in SCHEDULINGS {
            for policy in WRITE_POLICIES {
                check(workload, &[scheduling, policy], &[]);
            }
        }
    }
}

/// Threads and windows (none: the longest, which is 8 cycles here).
const OTHERS: &[(usize, Option<u64>)] = &[(1, Some(1)), (1, Some(3)), (2, None), (2, Some(3)), (4, None)];

#[test]
fn threads_and_windows_change_no_number() {
    for (index, name) in VARIED.iter().enumerate() {
        let workload = find(name).expect("a built-in workload");
        // Each workload on one of the machines, with two of the ways to run it: all meet somewhere.
        let sets = [SCHEDULINGS[index % SCHEDULINGS.len()], WRITE_POLICIES[index % WRITE_POLICIES.len()]];
        let others = [OTHERS[index % OTHERS.len()], OTHERS[(index + 2) % OTHERS.len()]];
        check(workload, &sets, &others);
    }
}

#[test]
fn all_threads_and_windows_on_one_workload() {
    check(find("gather").expect("a built-in workload"), &[], OTHERS);
}

#[test]
fn threads_and_windows_change_no_number_where_parts_have_clocks_of_their_own() {
    for (name, sets) in [
        ("gather", &[] as &[&str]),
        ("histogram", &["clocks.network_mhz=500", "clocks.l2_mhz=3000"]),
        ("spmv", &["network.topology={ butterfly = { radix = 6, stages = 2 } }", "clocks.dram_mhz=300"]),
    ] {
        check_on(&four_clocks(sets), find(name).expect("a built-in workload"), sets, OTHERS);
    }
}

/// Other machines: what differs from a GTX 480.
const MACHINES: &[&[&str]] = &[
    &[
        "l1d.sram.sector_bytes=32",
        "lsu.segment_bytes=32",
        "llc.conventional.sector_bytes=32",
        "dram.atom_bytes=32",
    ],
    &["l1d.sram.sector_bytes=64", "l1d.sram.write_miss_policy=fetch", "l1d.sram.banks=2"],
    &["network.topology=crossbar", "network.arbitration=oldest-first"],
    &["network.topology={ butterfly = { radix = 6, stages = 2 } }", "network.hop_latency_cycles=4"],
    &["l1d.sram.replacement=fifo", "llc.conventional.replacement=random"],
    &["l1d.sram.replacement=random", "l1d.sram.write_miss_policy=no-allocate"],
    &[
        "l1d.sram.write_miss_policy=no-allocate",
        "l1d.sram.write_policy=write-through",
        "l1d.sram.honours_bypass=false",
    ],
    &["l1d.sram.allocate=on-fill", "l1d.sram.sets=2", "l1d.sram.write_miss_policy=fetch"],
    &["gpu.sms=1", "gpu.channels=1", "gpu.slices_per_channel=1"],
    &["gpu.sms=3", "gpu.channels=5", "gpu.slices_per_channel=3", "clocks.dram_mhz=350"],
    &["l1d.sram.sets=1", "l1d.sram.ways=1", "llc.conventional.sets=1", "llc.conventional.ways=2"],
    &[
        "sm.schedulers=4",
        "sm.collectors=[{ count = { value = 3, source = \"test\" }, serves = [\"sp\", \"sfu\", \"ldst\"] }]",
    ],
];

#[test]
fn other_machines() {
    for (index, sets) in MACHINES.iter().enumerate() {
        for name in ["spmv", "histogram", "gather"] {
            let workload = find(name).expect("a built-in workload");
            let others: &[_] = if name == "gather" { &OTHERS[index % OTHERS.len()..][..1] } else { &[] };
            check(workload, sets, others);
        }
    }
}
