//! Address translation in a whole machine: results are right on every kind of machine, threads, windows and skipping change no
//! number, counters of SMs and GMMUs agree, and a page costs what its look-ups and its walk take.

use crate::support::{How, run_on, ticked, verified};
use strata_engine::statistics::Group;
use strata_gpu::machine::Machine;
use strata_workloads::{Size, find};

const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machine/translation.toml");

/// The network of a gtx480 has a terminal for each SM and slice, and none for a GMMU.
const ROOM: &str = "network.topology=crossbar";

/// TLBs in which everything hits once it is there.
const LARGE: [&str; 7] = [
    ROOM,
    "translation.page_bytes=1048576",
    "translation.l1_tlb.ways=64",
    "translation.l2_tlb.ways=64",
    "translation.gmmu.ways=64",
    "translation.l1_tlb.hit_latency_cycles=0",
    "translation.l1_tlb.queue=64",
];

fn machine(base: &str, systems: &[&str], sets: &[&str]) -> Machine {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load_with(base, systems, &sets).unwrap_or_else(|error| panic!("{error}"))
}

fn count(statistics: &[Group], group: &str, name: &str) -> u64 {
    let group =
        statistics.iter().find(|found| found.name == group).unwrap_or_else(|| panic!("no group {group}"));
    group.get(name).unwrap_or_else(|| panic!("no counter {name}"))
}

#[test]
fn results_are_right_on_any_number_of_threads() {
    for (name, base, systems, sets) in [
        ("bfs", "gtx480", &[SMALL] as &[&str], &[ROOM, "translation.gmmu.units=3"] as &[&str]),
        ("histogram", "gtx480", &[SMALL, "dy-fuse"], &[ROOM, "translation.l1_tlb.mshr_entries=1"]),
        (
            "gather",
            "gtx480",
            &[SMALL, "tcbase"],
            &[ROOM, "translation.l1_tlb.queue=1", "translation.gmmu.walkers=1"],
        ),
        ("atax", "gtx480", &[SMALL, "denovo", "stash"], &[]),
        ("atax", "rtx3080-quarter", &[SMALL, "morpheus-basic"], &["gpu.cache_sms=3"]),
        ("gather", "fermi-apu", &[SMALL], &["translation.gmmu.units=2"]),
    ] {
        let machine = machine(base, systems, sets);
        let program = find(name).unwrap().program(Size::Test).unwrap();
        let one = verified(&machine, program.as_ref(), How::CHECKED, "translation");
        assert!(one.statistics.iter().all(|group| group.broken.is_none()), "{name}");
        assert!(count(&one.statistics, "gmmu", "walks") > 0, "{name}: pages were walked for");
        for (threads, window) in [(2, Some(2)), (4, None)] {
            let how = How { threads, window, ..How::PLAIN };
            let other = verified(&machine, program.as_ref(), how, "translation");
            assert_eq!(one.statistics, other.statistics, "{name}: {threads}, {window:?}");
        }
    }
}

#[test]
fn skipping_is_ticking() {
    for (name, sets) in [("atax", &[ROOM] as &[&str]), ("bfs", &[ROOM, "translation.gmmu.walkers=1"])] {
        let machine = machine("gtx480", &[SMALL], sets);
        let program = find(name).unwrap().program(Size::Test).unwrap();
        let skipping = run_on(&machine, program.as_ref(), How::PLAIN).unwrap();
        let (launches, statistics) = ticked(&machine, program.as_ref());
        assert_eq!(skipping.launches, launches, "{name}");
        assert_eq!(skipping.statistics, statistics, "{name}");
    }
}

#[test]
fn what_one_level_misses_the_next_sees() {
    let program = find("gather").unwrap().program(Size::Test).unwrap();
    let with =
        verified(&machine("gtx480", &[SMALL], &[ROOM]), program.as_ref(), How::PLAIN, "gather").statistics;
    let of = |group, name| count(&with, group, name);
    assert_eq!(of("l2_tlb", "accesses"), of("l1_tlb", "misses"));
    assert_eq!(of("gmmu", "accesses"), of("l2_tlb", "misses"));
    assert_eq!(of("gmmu", "walks"), of("gmmu", "misses"));
    // Walks have three levels.
    assert_eq!(of("gmmu", "walk_reads"), 3 * of("gmmu", "walks"));
    assert!(of("gmmu", "merges") > 0 && of("l1_tlb", "merges") > 0 && of("l1_tlb", "stalled_cycles") > 0);
    // Each read is one more request to the partitions.
    let without =
        verified(&machine("gtx480", &[], &[ROOM]), program.as_ref(), How::PLAIN, "gather").statistics;
    assert!(count(&without, "partition", "requests") < of("partition", "requests"));
}

#[test]
fn pages_that_are_there_cost_nothing() {
    // One thread on each of a few SMs: they wait for the first page together, and never again.
    let program = find("lines-chase").unwrap().program(Size::Test).unwrap();
    let run = |systems: &[&str], sets: &[&str]| {
        verified(&machine("gtx480", systems, sets), program.as_ref(), How::PLAIN, "lines-chase")
    };
    let (without, with) = (run(&[], &[ROOM]), run(&[SMALL], &LARGE));
    let misses = count(&with.statistics, "l1_tlb", "misses");
    let waited = count(&with.statistics, "l1_tlb", "wait_cycles");
    let cycles =
        |run: &strata_gpu::results::RunResult| run.launches.iter().map(|launch| launch.cycles).sum::<u64>();
    assert!(misses > 0 && misses < 10, "{misses} misses");
    let more = cycles(&with) - cycles(&without);
    assert!(more > 0 && more <= waited, "{more} cycles more, {waited} waited");
}
