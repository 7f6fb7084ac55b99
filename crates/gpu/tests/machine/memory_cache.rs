//! A memory-side cache in a whole machine: results are right, host copies see its bytes, threads, windows and skipping
//! change no number, and it keeps requests from DRAM.

use crate::support::{How, run_on, ticked, verified};
use strata_engine::statistics::Group;
use strata_gpu::machine::Machine;
use strata_workloads::{Size, find};

const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machine/memory_cache.toml");

fn machine(systems: &[&str], sets: &[&str]) -> Machine {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load_with("gtx480", systems, &sets).unwrap_or_else(|error| panic!("{error}"))
}

fn group<'a>(statistics: &'a [Group], name: &str) -> &'a Group {
    statistics.iter().find(|group| group.name == name).unwrap_or_else(|| panic!("no group {name}"))
}

#[test]
fn results_are_right_on_any_number_of_threads() {
    for (name, systems, sets) in [
        ("bfs", &[SMALL] as &[&str], &[] as &[&str]),
        ("histogram", &[SMALL, "dy-fuse"], &["memory_cache.mshr_entries=1"]),
        ("gather", &[SMALL, "tcbase"], &["memory_cache.sets=1", "memory_cache.ways=1"]),
        ("gramschmidt", &[SMALL], &["llc.conventional.sets=1", "memory_cache.queue=1"]),
    ] {
        let machine = machine(systems, sets);
        let program = find(name).unwrap().program(Size::Test).unwrap();
        let one = verified(&machine, program.as_ref(), How::CHECKED, "a memory-side cache");
        assert!(one.statistics.iter().all(|group| group.broken.is_none()), "{name}");
        for (threads, window) in [(2, Some(3)), (4, None)] {
            let how = How { threads, window, ..How::PLAIN };
            let other = verified(&machine, program.as_ref(), how, "a memory-side cache");
            assert_eq!(one.statistics, other.statistics, "{name}: {threads}, {window:?}");
        }
    }
}

#[test]
fn skipping_is_ticking() {
    for name in ["atax", "transpose", "bfs"] {
        let machine = machine(&[SMALL], &[]);
        let program = find(name).unwrap().program(Size::Test).unwrap();
        let skipping = run_on(&machine, program.as_ref(), How::PLAIN).unwrap();
        let (launches, statistics) = ticked(&machine, program.as_ref());
        assert_eq!(skipping.launches, launches, "{name}");
        assert_eq!(group(&skipping.statistics, "memory_cache"), group(&statistics, "memory_cache"), "{name}");
    }
}

#[test]
fn a_large_one_reads_every_line_of_dram_once() {
    let tiny = ["llc.conventional.sets=1", "llc.conventional.ways=1"];
    let reads = |systems: &[&str], sets: &[&str]| {
        let program = find("bfs").unwrap().program(Size::Test).unwrap();
        let result = verified(&machine(systems, sets), program.as_ref(), How::PLAIN, "bfs");
        group(&result.statistics, "dram").get("read_bytes").expect("DRAM counts the bytes read")
    };
    let without = reads(&[], &tiny);
    let with = reads(&[SMALL], &[tiny[0], tiny[1], "memory_cache.sets=4096", "memory_cache.ways=16"]);
    // The program's lines fit the L2 of this GPU as well, which then misses each of them once.
    assert_eq!(with, reads(&[], &[]), "bytes with a memory-side cache, and with a large L2");
    assert!(3 * with < without, "{with} bytes with a memory-side cache, {without} with neither");
}
