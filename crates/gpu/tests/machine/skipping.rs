//! Skipping equals ticking: a machine that leaves out the cycles in which nothing can change counts the same as
//! one that is ticked in every cycle.

use crate::support::{How, four_clocks, gtx480, run_on, ticked};
use strata_gpu::machine::Machine;
use strata_workloads::{Size, find};

/// A machine that is ticked goes on to the end of its last window, in which every SM is empty: all that these
/// cycles change, and by how much a cycle.
const AFTER_THE_END: &[(&str, u64)] = &[("cycles", 1), ("issue_slots", 2), ("stall_no_warp", 2)];

fn check(workload: &str, sets: &[&str]) {
    check_on(&gtx480(sets), workload, sets);
}

fn check_on(machine: &Machine, workload: &str, sets: &[&str]) {
    let program =
        find(workload).expect("a built-in workload").program(Size::Test).expect("every workload has it");
    let skipping = run_on(machine, program.as_ref(), How::PLAIN).unwrap();
    let (launches, mut statistics) = ticked(machine, program.as_ref());
    assert_eq!(skipping.launches, launches, "{workload} {sets:?}");

    let sm = statistics.iter_mut().find(|group| group.name == "sm").unwrap();
    let more = sm.get("cycles").unwrap() - skipping.counter("sm", "cycles").unwrap();
    let sms = u64::from(*machine.file().gpu.sms);
    assert!(more <= sms * launches.len() as u64 * 2 * machine.file().window(), "{more} cycles after the end");
    for (name, slots) in AFTER_THE_END {
        let place = sm.definitions.iter().position(|definition| definition.name == *name).unwrap();
        sm.values[place] -= slots * more;
    }
    for (skipping, ticked) in skipping.statistics.iter().zip(&statistics) {
        let names = skipping.definitions.iter().map(|definition| definition.name);
        let by_name = |values: &[u64]| names.clone().zip(values.iter().copied()).collect::<Vec<_>>();
        assert_eq!(
            by_name(&skipping.values),
            by_name(&ticked.values),
            "{workload} {sets:?}: {}",
            ticked.name
        );
        assert_eq!(ticked.broken, None);
    }
}

#[test]
fn streaming() {
    check("saxpy", &[]);
}

#[test]
fn shared_memory_and_barriers() {
    check("reduction", &["sm.scheduling={ two-level = { active = 4 } }"]);
}

#[test]
fn atomics() {
    check("histogram", &["sm.scheduling=loose-round-robin"]);
}

#[test]
fn irregular_accesses_in_many_launches() {
    check("bfs", &["l1d.sram.write_policy=write-through", "network.topology=crossbar"]);
}

#[test]
fn sub_cores() {
    for workload in ["gemm", "histogram"] {
        check(workload, &["sm.sub_cores=true", "sm.units.sp=4"]);
    }
}

#[test]
fn clocks_of_their_own() {
    for (workload, sets) in [
        ("gather", &["clocks.network_mhz=700"] as &[&str]),
        ("histogram", &["network.topology={ butterfly = { radix = 6, stages = 2 } }"]),
        ("bfs", &["clocks.l2_mhz=4000", "network.hop_latency_cycles=2"]),
    ] {
        check_on(&four_clocks(sets), workload, sets);
    }
}

#[test]
fn a_starved_machine() {
    check(
        "gather",
        &[
            "l1d.sram.mshr_entries=2",
            "l1d.sram.miss_queue=2",
            "llc.conventional.mshr_entries=2",
            "llc.conventional.request_queue=1",
            "llc.conventional.dram_queue=2",
            "network.buffer_flits=20",
            "dram.queue_entries=4",
            "dram.return_entries=1",
            "lsu.queue=2",
        ],
    );
}
