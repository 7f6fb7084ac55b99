//! A second level of read-only cache, and lines fetched ahead, in a whole machine: results are right, threads, windows and
//! skipping change no number, code stays from launch to launch, and straight code is no longer fetched line by line.

use crate::support::{How, run_on, ticked, verified};
use strata_engine::statistics::Group;
use strata_gpu::machine::Machine;
use strata_workloads::{Size, find};

const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machine/read_only_cache.toml");

/// What makes the small one large.
const LARGE: [&str; 4] = [
    "read_only_cache.sets=64",
    "read_only_cache.ways=16",
    "read_only_cache.mshr_entries=16",
    "read_only_cache.miss_queue=16",
];

const AHEAD: &str = "instruction_cache.prefetch_lines=4";

fn machine(systems: &[&str], sets: &[&str]) -> Machine {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load_with("gtx480", systems, &sets).unwrap_or_else(|error| panic!("{error}"))
}

fn count(statistics: &[Group], group: &str, name: &str) -> u64 {
    let group =
        statistics.iter().find(|found| found.name == group).unwrap_or_else(|| panic!("no group {group}"));
    group.get(name).unwrap_or_else(|| panic!("no counter {name}"))
}

#[test]
fn results_are_right_on_any_number_of_threads() {
    for (name, systems, sets) in [
        ("bfs", &[SMALL] as &[&str], &[AHEAD] as &[&str]),
        ("lud", &[SMALL], &["instruction_cache.sets=1", "instruction_cache.ways=1", AHEAD]),
        ("histogram", &[SMALL, "dy-fuse"], &["read_only_cache.mshr_entries=1"]),
        (
            "gather",
            &[SMALL, "tcbase"],
            &["read_only_cache.prefetch_lines=3", "read_only_cache.mshr_entries=3"],
        ),
        ("sepconv", &[SMALL], &["constant_cache.sets=1", "constant_cache.ways=1"]),
    ] {
        let machine = machine(systems, sets);
        let program = find(name).unwrap().program(Size::Test).unwrap();
        let one = verified(&machine, program.as_ref(), How::CHECKED, "a second level");
        assert!(one.statistics.iter().all(|group| group.broken.is_none()), "{name}");
        for (threads, window) in [(2, Some(3)), (4, None)] {
            let how = How { threads, window, ..How::PLAIN };
            let other = verified(&machine, program.as_ref(), how, "a second level");
            assert_eq!(one.statistics, other.statistics, "{name}: {threads}, {window:?}");
        }
    }
}

#[test]
fn skipping_is_ticking() {
    for (name, sets) in [("atax", &[AHEAD] as &[&str]), ("lud", &["constant_cache.sets=1"]), ("bfs", &[])] {
        let machine = machine(&[SMALL], sets);
        let program = find(name).unwrap().program(Size::Test).unwrap();
        let skipping = run_on(&machine, program.as_ref(), How::PLAIN).unwrap();
        let (launches, statistics) = ticked(&machine, program.as_ref());
        assert_eq!(skipping.launches, launches, "{name}");
        assert_eq!(skipping.statistics, statistics, "{name}");
    }
}

#[test]
fn what_one_level_drops_the_other_keeps() {
    let program = find("nw").unwrap().program(Size::Test).unwrap();
    let run = |systems: &[&str], sets: &[&str]| {
        verified(&machine(systems, sets), program.as_ref(), How::PLAIN, "nw").statistics
    };
    let without = run(&[], &[]);
    let with = run(&[SMALL], &LARGE);
    let misses = |statistics: &[Group]| count(statistics, "instruction_cache", "misses");
    let first_level = misses(&with) + count(&with, "constant_cache", "misses");
    assert_eq!(
        count(&with, "read_only_cache", "accesses"),
        first_level,
        "it sees what the first level misses"
    );
    // nw's code is larger than 2 KB, and is launched again and again: below the second level each SM fetches it once.
    assert!(misses(&without) > 1000, "{} misses", misses(&without));
    let fetched = count(&with, "read_only_cache", "misses");
    assert!(3 * fetched < misses(&with), "{fetched} of {} are fetched from memory", misses(&with));
}

#[test]
fn straight_code_is_fetched_ahead() {
    let program = find("lud").unwrap().program(Size::Test).unwrap();
    let run = |sets: &[&str]| verified(&machine(&[], sets), program.as_ref(), How::PLAIN, "lud");
    let room = ["instruction_cache.mshr_entries=8", "instruction_cache.miss_queue=8"];
    let (plain, ahead) = (run(&room), run(&[room[0], room[1], AHEAD]));
    let used = count(&ahead.statistics, "instruction_cache", "prefetches_used");
    let misses = |statistics: &[Group]| count(statistics, "instruction_cache", "misses");
    assert!(used > 0 && 2 * misses(&ahead.statistics) < misses(&plain.statistics));
    let cycles =
        |run: &strata_gpu::results::RunResult| run.launches.iter().map(|launch| launch.cycles).sum::<u64>();
    assert!(cycles(&ahead) < cycles(&plain), "{} cycles, {} without", cycles(&ahead), cycles(&plain));
}
