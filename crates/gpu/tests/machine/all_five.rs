//! The systems of all five papers in one machine, `apu-all`: any of them stand together, give right results, and are all used.

use strata_gpu::machine::Machine;
use strata_gpu::results::RunResult;
use strata_workloads::Size;

use crate::support::{How, verified};

/// A system of each paper, with the overrides that its neighbours need: Morpheus's kernel takes 64 registers.
const SYSTEMS: [(&str, &[&str]); 5] = [
    ("dy-fuse", &[]),
    ("hi-end", &["sm.registers_per_thread=64", "sm.register_file.register_cache.register_bits=6"]),
    ("bypass-shared", &[]),
    ("morpheus-all", &[]),
    ("stash-flush", &[]),
];

/// The machine with a subset of the systems, bit n for the n-th. Parameters are loads of global memory, so that lanes and L1Ds have some
/// in every program.
fn machine(subset: u32) -> Machine {
    let chosen =
        || SYSTEMS.iter().enumerate().filter(|(index, _)| subset >> index & 1 == 1).map(|(_, of)| of);
    let systems: Vec<&str> = chosen().map(|(system, _)| *system).collect();
    let mut sets = vec!["lsu.read_only=as-global".to_owned()];
    sets.extend(chosen().flat_map(|(_, sets)| sets.iter().map(|set| (*set).to_owned())));
    Machine::load_with("apu-all", &systems, &sets).unwrap_or_else(|error| panic!("{error}"))
}

const ALL: u32 = (1 << SYSTEMS.len()) - 1;

/// Programs with mapped data.
const PROGRAMS: [&str; 10] =
    ["implicit", "pollution", "reuse", "lud", "backprop", "nw", "pathfinder", "sgemm", "stencil", "surf"];

fn run(name: &str, subset: u32, how: How) -> RunResult {
    let workload = strata_workloads::find(name).expect("it is one of the suite");
    let mut versions = workload.versions();
    let version = versions.find(|version| version.version() == "stash").expect("it has this version");
    let program = version.program(Size::Test).expect("every workload has it");
    verified(&machine(subset), program.as_ref(), how, "all five")
}

#[test]
fn every_subset_stands_in_one_machine() {
    for subset in 0..=ALL {
        assert_eq!(machine(subset).systems().len(), subset.count_ones() as usize);
    }
}

#[test]
fn each_of_the_five_counts_in_the_same_run() {
    for name in PROGRAMS {
        let result = run(name, ALL, How::CHECKED);
        for path in [
            "fuse.sram_reads fuse.stt_reads fuse.sram_writes fuse.stt_writes",
            "register_hierarchy.reads",
            "tiny_cache.global_loads",
            "morpheus.requests",
            "stash.hits stash.misses",
        ] {
            let count: u64 = path.split(' ').map(|path| counter(&result, path)).sum();
            assert!(count > 0, "{name}: {path}");
        }
        for group in &result.statistics {
            assert_eq!(group.broken, None, "{name}: {}", group.name);
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_numbers() {
    let [one, two] = [1, 2].map(|threads| run("sgemm", ALL, How { threads, ..How::CHECKED }));
    assert_eq!(one.statistics_hash(), two.statistics_hash());
}

#[test]
fn each_of_the_five_changes_the_run() {
    let hash = |subset| run("pathfinder", subset, How::CHECKED).statistics_hash();
    let all = hash(ALL);
    for (index, (system, _)) in SYSTEMS.iter().enumerate().filter(|(_, (system, _))| *system != "stash-flush")
    {
        assert_ne!(hash(ALL & !(1 << index)), all, "{system}");
    }
}

#[test]
fn systems_that_cannot_stand_together_are_named_with_their_keys() {
    let refused = |systems: &[&str], sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        Machine::load_with("apu-all", systems, &sets).map(drop).unwrap_err().message
    };
    assert_eq!(
        refused(&["dy-fuse", "hi-end", "morpheus-all"], &[]),
        "sm.registers_per_thread: found 32, expected at least 64, which the kernel of the SMs in cache mode takes; fewer of \
         llc.morpheus.warps or llc.morpheus.ways need fewer (`strata machine fit` prints numbers that fit); `hi-end` (which sets sm.registers_per_thread) and `morpheus-all` (which sets \
         llc.morpheus.warps, llc.morpheus.ways) cannot stand in this machine together, each of them alone can"
    );
    let error = refused(&["tcbase", "stash-flush"], &[]);
    let end = "expected a path past which shared memory goes, as with lane_path.tiny-cache.bypass = \"shared\", or none; `tcbase` (which \
               sets lane_path.tiny-cache, lane_path.tiny-cache.bypass) and `stash-flush` (which sets scratchpad.stash) cannot stand in \
               this machine together, each of them alone can";
    assert!(error.ends_with(end), "{error}");
    // What is wrong with one of them is said of that one alone.
    let error = refused(&["dy-fuse", "stash"], &[]);
    assert!(!error.contains("together"), "{error}");
    // Overrides are laid over the systems before the machine is checked.
    let lifted = ["sm.registers_per_thread=64", "sm.register_file.register_cache.register_bits=6"];
    let sets: Vec<String> = lifted.iter().map(|set| (*set).to_owned()).collect();
    Machine::load_with("apu-all", &["hi-end", "morpheus-all"], &sets)
        .unwrap_or_else(|error| panic!("{error}"));
}

/// A counter of a run, as `group.counter`.
fn counter(result: &RunResult, path: &str) -> u64 {
    let (group, counter) = path.split_once('.').expect("group and counter");
    let group = result.statistics.iter().find(|of| of.name == group);
    group.and_then(|group| group.get(counter)).unwrap_or_else(|| panic!("no statistic {path}"))
}
