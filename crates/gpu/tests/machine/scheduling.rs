//! Warp schedulers and CTA dispatch in a whole machine: results are right whatever the policies, threads, windows and skips
//! change no number, and ccws does what it is for.

use std::collections::BTreeSet;

use strata_gpu::machine::{Machine, policies};
use strata_workloads::{Size, find};

use crate::support::{How, gtx480, ticked, verified};

const SCHEDULINGS: &[&str] = &[
    "loose-round-robin",
    "greedy-then-oldest",
    "switch-on-memory",
    "{ two-level = { active = 3 } }",
    "ccws",
    "{ ccws = { victim_tags = 4, victim_ways = 2, k_throttle = 64, base_score = 7 } }",
];

const DISPATCHES: &[&str] = &[
    "round-robin",
    "depth-first",
    "{ limited = { most_per_sm = 1 } }",
    "{ limited = { most_per_sm = 3 } }",
    "{ blocks = { ctas = 2 } }",
];

/// Coalesced and not, with barriers, shared memory, atomics, divergence, host loops.
const PROGRAMS: &[&str] =
    &["atax", "bfs", "histogram", "hotspot", "kmeans", "reduction", "spmv", "transpose"];

/// Few SMs, so that each has many CTAs, and a small L1D, so that lines are lost.
fn machine(scheduling: &str, dispatch: &str) -> Machine {
    let sets = [format!("sm.scheduling={scheduling}"), format!("gpu.dispatch={dispatch}")];
    let small = ["gpu.sms=3", "l1d.sets=8"].map(str::to_owned);
    Machine::load("gtx480", &[&small[..], &sets].concat()).unwrap_or_else(|error| panic!("{error}"))
}

fn name_of(policy: &str) -> &str {
    policy.trim_start_matches("{ ").split(' ').next().unwrap_or_default()
}

#[test]
fn every_policy_is_here() {
    for (key, here) in [("sm.scheduling", SCHEDULINGS), ("gpu.dispatch", DISPATCHES)] {
        let all = policies().into_iter().find(|known| known.key == key).unwrap().policies;
        let all: BTreeSet<_> = all.into_iter().map(|policy| policy.name).collect();
        assert_eq!(all, here.iter().map(|policy| name_of(policy).to_owned()).collect(), "{key}");
    }
}

#[test]
fn results_are_right_with_every_scheduler_and_dispatch() {
    let pairs = SCHEDULINGS
        .iter()
        .flat_map(|scheduling| DISPATCHES.iter().map(move |dispatch| (scheduling, dispatch)));
    for (index, (scheduling, dispatch)) in pairs.enumerate() {
        // Schedulers meet other programs with each dispatch, and all programs are met.
        let program = find(PROGRAMS[index % PROGRAMS.len()]).unwrap().program(Size::Test).unwrap();
        let what = format!("{scheduling}, {dispatch}");
        let result = verified(&machine(scheduling, dispatch), program.as_ref(), How::CHECKED, &what);
        assert!(result.statistics.iter().all(|group| group.broken.is_none()), "{what}");
    }
}

#[test]
fn threads_windows_and_skips_change_no_number() {
    for (scheduling, dispatch, program) in [
        ("ccws", "{ blocks = { ctas = 2 } }", "kmeans"),
        (SCHEDULINGS[5], "depth-first", "bfs"),
        ("switch-on-memory", "{ limited = { most_per_sm = 2 } }", "histogram"),
    ] {
        let (machine, what) = (machine(scheduling, dispatch), format!("{program}: {scheduling}, {dispatch}"));
        let program = find(program).unwrap().program(Size::Test).unwrap();
        let plain = verified(&machine, program.as_ref(), How::PLAIN, &what);
        let other =
            verified(&machine, program.as_ref(), How { threads: 2, window: Some(3), ..How::PLAIN }, &what);
        assert_eq!((&other.launches, &other.statistics), (&plain.launches, &plain.statistics), "{what}");
        // What a machine that skips no cycle counts at its end is `skipping.rs`'s; all but its SMs count the same.
        let (launches, statistics) = ticked(&machine, program.as_ref());
        assert_eq!(launches, plain.launches, "{what}");
        for (ticked, plain) in
            statistics.iter().zip(&plain.statistics).filter(|(group, _)| group.name != "sm")
        {
            assert_eq!((ticked.name, &ticked.values), (plain.name, &plain.values), "{what}");
        }
    }
}

/// Cycles, misses of loads, and loads held back, of a program on one SM and one channel.
fn crowded(program: &str, scheduling: &str) -> (u64, u64, Option<u64>) {
    let machine = gtx480(&["gpu.sms=1", "gpu.channels=1", &format!("sm.scheduling={scheduling}")]);
    let program = find(program).unwrap().program(Size::Test).unwrap();
    let result = verified(&machine, program.as_ref(), How::PLAIN, scheduling);
    let misses = result.counter("l1d", "load_misses").unwrap();
    (result.cycles(), misses, result.counter("ccws", "held"))
}

#[test]
fn ccws_keeps_lines_that_warps_would_lose_and_leaves_others_alone() {
    // In k-means, each thread reads the features of its own point again and again; together they are more than the L1D holds.
    let (cycles, misses, none) = crowded("kmeans", "greedy-then-oldest");
    let (cycles_with, misses_with, held) = crowded("kmeans", "ccws");
    assert!(none.is_none() && held.unwrap() > 0);
    assert!(2 * misses_with < misses, "{misses_with} misses, {misses} without");
    assert!(10 * cycles_with < 9 * cycles, "{cycles_with} cycles, {cycles} without");

    // Saxpy uses no line twice, and a product of matrices has its tiles in shared memory.
    for program in ["saxpy", "gemm"] {
        let (cycles, misses, _) = crowded(program, "greedy-then-oldest");
        assert_eq!(crowded(program, "ccws"), (cycles, misses, Some(0)), "{program}");
    }
}

#[test]
fn an_l1d_that_does_not_tell_is_refused_by_name() {
    let ccws = ["sm.scheduling=ccws".to_owned()];
    let error = Machine::load_with("gtx480", &["denovo"], &ccws).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "sm.scheduling: found ccws, which has to hear what becomes of an L1D's lines, and `l1d.denovo`, which does not tell, \
             expected an L1D that does, such as `l1d.sram`"
        ),
        "{error}"
    );
    // FUSE's L1Ds tell, too.
    let sets = ["sm.scheduling=ccws", "gpu.sms=1"].map(str::to_owned);
    let machine = Machine::load_with("gtx480", &["dy-fuse"], &sets).unwrap();
    let program = find("kmeans").unwrap().program(Size::Test).unwrap();
    let result = verified(&machine, program.as_ref(), How::CHECKED, "dy-fuse");
    let count = |name| result.counter("ccws", name).unwrap();
    assert!(count("evictions") > 0 && count("lost") > 0);
}
