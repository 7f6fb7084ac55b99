//! SMs in cache mode in a whole machine: results are right, laws hold, skipping equals ticking, and nothing else changes.

mod episodes;

use crate::support::{How, PLAIN, counter, module, on_device, run_on, ticked, verified};
use strata_engine::statistics::Group;
use strata_gpu::device::Modelled;
use strata_gpu::gpu::Gpu;
use strata_gpu::machine::{Machine, fit};
use strata_gpu::results::RunResult;
use strata_workloads::{Device, Shape, Size, find};

/// Four SMs run programs and two keep blocks beside few conventional lines: two in the registers of each of 12 warps, three for
/// each of 4 in shared memory.
const SMALL: &[&str] = &[
    "gpu.sms=6",
    "gpu.cache_sms=2",
    "llc.warps=16",
    "llc.ways=2",
    "llc.shared.warps=4",
    "llc.shared.ways=3",
    "llc.conventional.sets=2",
    "llc.conventional.ways=2",
];

fn with_systems(base: &str, systems: &[&str], sets: &[&str]) -> Machine {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load_with(base, systems, &sets).unwrap_or_else(|error| panic!("{error}"))
}

fn machine(base: &str, sets: &[&str]) -> Machine {
    with_systems(base, &["morpheus-basic"], sets)
}

pub fn small(sets: &[&str]) -> Machine {
    machine("gtx480", &[SMALL, sets].concat())
}

/// The small machine with another system of the family.
fn variant(system: &str, sets: &[&str]) -> Machine {
    let compressed: &[&str] = &["llc.compression.blocks=3", "llc.compression.epoch_cycles=2000"];
    let compressed = if COMPRESSED.contains(&system) { compressed } else { &[] };
    let all = [SMALL, compressed, sets].concat();
    let sets = all.iter().filter_map(|set| of_system(system, set)).collect::<Vec<_>>();
    Machine::load_with("gtx480", &[system], &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// A setting of the controller, as a system spells it. Sets of published costs are of one kind.
fn of_system(system: &str, set: &str) -> Option<String> {
    match set.strip_prefix("llc.") {
        Some(rest) if PUBLISHED.contains(&system) => {
            (!rest.starts_with("shared.")).then(|| format!("llc.controller.{rest}"))
        }
        _ => Some(set.to_owned()),
    }
}

/// The system whose sets have published costs.
const OF_COST: &str = "morpheus-as-published";

/// Systems whose sets answer by themselves, at the published cost or at none.
const PUBLISHED: &[&str] = &["morpheus-as-published", "morpheus-as-published-all", "morpheus-free"];

/// Systems whose sets are compressed.
const COMPRESSED: &[&str] = &["morpheus-compression", "morpheus-all"];

fn run(machine: &Machine, workload: &str, how: How) -> RunResult {
    let program = find(workload).expect("a built-in workload").program(Size::Test).expect("it has the size");
    let result = verified(machine, program.as_ref(), how, "morpheus");
    assert!(result.statistics.iter().all(|group| group.broken.is_none()), "{workload}");
    result
}

/// Requests whose block is in its set, or on its way there.
fn hits(result: &RunResult) -> u64 {
    ["true_hits", "merged"].iter().map(|name| result.counter("morpheus", name).unwrap()).sum()
}

/// Coalesced and not, with atomics, with many launches between which the host reads and writes.
const VARIED: &[&str] = &["atax", "bfs", "histogram", "hotspot", "kmeans", "reduction", "spmv", "transpose"];

#[test]
fn results_are_right_with_each_prediction() {
    for workload in VARIED {
        for prediction in ["bloom", "none", "perfect"] {
            let set = format!("llc.prediction={prediction}");
            let result = run(&small(&[&set]), workload, How::CHECKED);
            assert!(hits(&result) > 0, "{workload}, {prediction}");
            assert!(result.counter("cache_mode.sm", "warp_instructions").unwrap() > 0);
        }
    }
}

#[test]
fn results_are_right_on_every_system() {
    let executed = ["morpheus-indirect-mov", "morpheus-compression", "morpheus-all"];
    for system in executed.iter().chain(PUBLISHED).copied() {
        for workload in VARIED {
            let result = run(&variant(system, &[]), workload, How::CHECKED);
            assert!(hits(&result) > 0, "{workload}, {system}");
            let put = |bytes| result.counter("morpheus", &format!("blocks_of_{bytes}_bytes")).unwrap();
            assert_eq!(
                put(32) + put(64) + put(128) > 0,
                COMPRESSED.contains(&system),
                "{workload}, {system}"
            );
        }
    }
}

#[test]
fn it_composes_with_an_l1d_and_a_register_file() {
    for workload in ["atax", "bfs", "histogram", "kmeans", "hotspot"] {
        let systems = ["morpheus-all", "dy-fuse", "hi-end"];
        // Hi-End's tags name 32 registers of a thread; sets need twice as many.
        let sets = [
            "gpu.sms=6",
            "gpu.cache_sms=2",
            "llc.warps=8",
            "llc.shared.warps=4",
            "llc.shared.ways=70",
            "sm.registers_per_thread=64",
            "sm.register_file.register_cache.register_bits=6",
        ];
        let machine = with_systems("gtx480", &systems, &sets);
        run(&machine, workload, How::CHECKED);
    }
}

#[test]
fn results_are_right_behind_clocks_of_their_own_and_few_buffers() {
    let few = ["llc.read_buffers=1", "llc.write_buffers=1", "gpu.gated_sms=1", "gpu.cache_sms=1"];
    for workload in ["bfs", "histogram"] {
        let [whole, copies] = ["whole-operation", "only-copy"].map(|value| {
            let buffered = format!("llc.buffered={value}");
            let sets: Vec<&str> = few.iter().copied().chain([&*buffered]).collect();
            let result = run(&small(&sets), workload, How::CHECKED);
            result.counter("morpheus", "waited_for_buffer").unwrap()
        });
        assert!(copies < whole, "{workload}: {copies} and {whole}");
    }
    let clocks = ["gpu.sms=6", "gpu.cache_sms=2", "clocks.l2_mhz=1500", "clocks.network_mhz=1000"];
    run(&machine("rtx3080", &clocks), "atax", How::CHECKED);
}

#[test]
fn warps_that_poll_bring_the_same_results_and_more_traffic() {
    let polls = &["llc.wait=polled"];
    for workload in ["bfs", "histogram"] {
        let (polled, held) =
            (run(&small(polls), workload, How::CHECKED), run(&small(&[]), workload, How::PLAIN));
        assert_eq!(held.counter("morpheus", "idle_loads"), Some(0));
        assert!(
            polled.counter("morpheus", "idle_loads") > held.counter("morpheus", "row_loads"),
            "{workload}"
        );
    }
}

/// Every system, and both ways to wait.
const FAMILY: &[(&str, &str, &str)] = &[
    ("bfs", "morpheus-basic", "llc.wait=held"),
    ("histogram", "morpheus-basic", "llc.wait=held"),
    ("bfs", "morpheus-basic", "llc.wait=polled"),
    ("histogram", "morpheus-indirect-mov", "llc.wait=held"),
    ("bfs", "morpheus-compression", "llc.wait=held"),
    ("histogram", "morpheus-all", "llc.wait=held"),
    ("histogram", "morpheus-all", "llc.wait=polled"),
    ("histogram", "morpheus-no-prediction", "llc.wait=held"),
    ("bfs", "morpheus-perfect-prediction", "llc.wait=held"),
    ("bfs", OF_COST, "llc.wait=held"),
    ("histogram", OF_COST, "llc.insertions=dropped-when-busy"),
];

#[test]
fn threads_and_windows_change_no_number() {
    for (workload, system, set) in FAMILY {
        let machine = variant(system, &[set]);
        let one = run(&machine, workload, How::CHECKED);
        for (threads, window) in [(1, Some(1)), (2, Some(3)), (4, None)] {
            let other = run(&machine, workload, How { threads, window, ..How::PLAIN });
            assert_eq!(one.launches, other.launches, "{workload}: {threads}, {window:?}");
            assert_eq!(one.statistics_hash(), other.statistics_hash(), "{workload}: {threads}, {window:?}");
        }
    }
}

#[test]
fn skipping_is_ticking() {
    for (workload, system, set) in FAMILY {
        let machine = variant(system, &["gpu.gated_sms=1", set]);
        let program = find(workload).unwrap().program(Size::Test).unwrap();
        let skipping = run_on(&machine, program.as_ref(), How::PLAIN).unwrap();
        let (launches, statistics) = ticked(&machine, program.as_ref());
        assert_eq!(skipping.launches, launches, "{workload}");
        for name in ["morpheus", "partition", "l2", "dram", "cache_mode.lsu", "cache_mode.l1d"] {
            let of = |groups: &[Group]| groups.iter().find(|group| group.name == name).cloned();
            let (one, other) = (of(&skipping.statistics), of(&statistics));
            assert!(one.is_some() && one == other, "{workload}: {one:?}, {other:?}");
        }
    }
}

/// Arithmetic for a million cycles: SMs in cache mode whose loads are withheld rest, and those that poll do not.
#[test]
fn an_idle_extended_llc_costs_no_ticks() {
    let text = module(
        ".visible .entry k() {\n.reg .pred %p; .reg .b32 %r<3>;\nmov.u32 %r0, 50000;\nLOOP:\n\
         mad.lo.u32 %r1, %r1, %r0, 7;\nsub.u32 %r0, %r0, 1;\nsetp.ne.u32 %p, %r0, 0;\n@%p bra LOOP;\nret;\n}\n",
    );
    let work = |wait: &str| {
        on_device(&small(&[wait]), PLAIN, &text, |device| {
            // Code is fetched, and warps begin to wait.
            device.launch("k", Shape::new([4, 1, 1], [32, 1, 1]), &[]).unwrap();
            let instructions = counter(device, "cache_mode.sm", "warp_instructions");
            device.gpu().measure_schedule();
            device.launch("k", Shape::new([4, 1, 1], [32, 1, 1]), &[]).unwrap();
            let executed = counter(device, "cache_mode.sm", "warp_instructions") - instructions;
            let islands = device.gpu().schedule().expect("it was measured").schedule.islands;
            (executed, islands[0], islands[4])
        })
    };
    let (executed, compute, cache) = work("llc.wait=held");
    assert_eq!(executed, 0);
    assert!(cache < compute / 20, "host time of an SM: {compute:?} in compute mode, {cache:?} in cache mode");
    let (executed, compute, cache) = work("llc.wait=polled");
    assert!(executed > 10_000 && cache > compute / 20, "{executed}: {compute:?}, {cache:?}");
}

/// In a machine without SMs in cache mode a controller leaves everything to the conventional slice.
#[test]
fn without_sms_in_cache_mode_nothing_changes() {
    let with = run(&machine("rtx3080", &["gpu.sms=4", "gpu.cache_sms=0"]), "bfs", How::PLAIN);
    let plain = Machine::load("rtx3080", &["gpu.sms=4".into()]).unwrap();
    let without = run(&plain, "bfs", How::PLAIN);
    assert_eq!(with.launches.len(), without.launches.len());
    for (with, without) in with.launches.iter().zip(&without.launches) {
        assert_eq!(with.cycles, without.cycles);
    }
    let conventional = with.statistics.iter().filter(|group| group.name != "morpheus");
    assert!(conventional.eq(without.statistics.iter()));
}

#[test]
fn sms_without_power_do_nothing_and_leak_nothing() {
    let gated =
        run(&machine("rtx3080", &["gpu.sms=6", "gpu.cache_sms=0", "gpu.gated_sms=2"]), "bfs", How::PLAIN);
    let plain = Machine::load("rtx3080", &["gpu.sms=4".into()]).unwrap();
    let fewer = run(&plain, "bfs", How::PLAIN);
    // The network has two ports more, at which nothing happens.
    assert_eq!(gated.counter("sm", "cycles"), fewer.counter("sm", "cycles"));
    let leakage =
        |result: &RunResult, name| result.energy.as_ref().unwrap().structure(name).unwrap().leakage_pj;
    for name in ["register_file", "l1d", "instruction_cache"] {
        assert_eq!(leakage(&gated, name), leakage(&fewer, name), "{name}");
    }
}

#[test]
fn the_extended_llc_keeps_what_dram_would_be_asked_for() {
    // Without the kernel's code, which SMs in cache mode fetch from DRAM too.
    let reads = |sets: &[&str]| {
        let result = run(&small(sets), "hotspot", How::PLAIN);
        ["l2.fetches", "morpheus.fetches", "morpheus.false_hits"]
            .map(|path| path.split_once('.').expect("group and counter"))
            .map(|(group, counter)| result.counter(group, counter).expect("it is counted"))
            .iter()
            .sum::<u64>()
    };
    let (few, many) = (reads(&["gpu.sms=5", "gpu.cache_sms=1"]), reads(&["gpu.sms=15", "gpu.cache_sms=11"]));
    assert!(many < few, "{few} reads with one SM in cache mode, {many} with eleven");
}

#[test]
fn machines_that_cannot_be_are_refused() {
    let refusal = |system: &[&str], sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let machine = Machine::load_with("rtx3080", system, &sets).map_err(|error| error.to_string())?;
        Modelled::new(Gpu::new(&machine, PLAIN)?, &machine).map(|_| ())
    };
    let morpheus = &["morpheus-basic"][..];
    for (system, sets, message) in [
        (
            &[][..],
            &["gpu.cache_sms=1"][..],
            "gpu.cache_sms: found 1, expected 0: the LLC design `conventional`",
        ),
        (morpheus, &["gpu.cache_sms=68"], "gpu.cache_sms: found 68, expected at most 67"),
        (morpheus, &["gpu.cache_sms=8", "gpu.gated_sms=60"], "gpu.gated_sms: found 60, expected at most 59"),
        (morpheus, &["gpu.cache_sms=54"], "llc.morpheus.rows: found 64, expected 65 for 54 SMs"),
        (morpheus, &["lsu.accesses=64"], "lsu.accesses: found 64, expected 96"),
        (morpheus, &["llc.filter_bytes=24"], "llc.morpheus: filter_bytes: must be a power of two, found 24"),
        (
            &["morpheus-all"],
            &["llc.compression.blocks=31"],
            "llc.morpheus: compression.blocks: must be 32 to 127, found 31",
        ),
        (
            &["morpheus-all"],
            &["llc.prediction=perfect"],
            "llc.morpheus: prediction: found `perfect`, expected `bloom` or `none`",
        ),
        (
            &["morpheus-all"],
            &["llc.compression.epoch_cycles=100000"],
            "compression.epoch_cycles: must be 1 to 50000, found 100000",
        ),
        (
            &["morpheus-all"],
            &["llc.warps=36"],
            "sm.registers: found 56 for each thread of 36 warps, expected more",
        ),
        (morpheus, &["llc.ways=33"], "sm.registers: found 40 for each thread of 48 warps, expected more"),
        (
            &["morpheus-indirect-mov"],
            &["llc.warps=8", "llc.shared.warps=0", "llc.ways=200"],
            "llc.morpheus.ways: found 200, expected at most 128 with sm.indirect_mov",
        ),
        (morpheus, &["llc.warps=64"], "llc.morpheus.warps: found 64, expected at most 48"),
        (
            morpheus,
            &["llc.shared.ways=51"],
            "llc.morpheus.shared.ways: found 51, expected at most 50: 16 warps have the 102400 bytes of sm.shared_bytes",
        ),
        (morpheus, &["llc.shared.warps=49"], "llc.morpheus: shared.warps: must be 0 to 48, found 49"),
        (
            morpheus,
            &["llc.l1.warps=33", "llc.l1.ways=8"],
            "llc.morpheus: l1.warps: must be 0 to 32, found 33",
        ),
        (
            morpheus,
            &["llc.shared.warps=0", "llc.l1.warps=16", "llc.l1.ways=65"],
            "llc.morpheus.l1.ways: found 65, expected at most 64: 16 warps have the 131072 bytes of the L1D",
        ),
        (
            &["morpheus-basic", "dy-fuse"],
            &["llc.l1.warps=16", "llc.l1.ways=1"],
            "llc.morpheus.l1.warps: found 16, expected 0: the L1D design `fuse` keeps no lines from launch to launch",
        ),
        (
            &["morpheus-as-published"],
            &["llc.controller.l1.warps=1", "llc.controller.l1.ways=1"],
            "l1.warps: found 1, expected 0",
        ),
        (
            morpheus,
            &["llc.launches=by-place", "llc.ways=60"],
            "llc.morpheus.ways: found 60, expected fewer: 16 warps with sets in shared memory have",
        ),
        (
            morpheus,
            &["llc.shared.warps=17", "llc.shared.ways=1"],
            "llc.morpheus.warps: found 48, 17 of them with sets in shared memory",
        ),
    ] {
        let error = refusal(system, sets).expect_err("such a machine cannot be");
        assert!(error.contains(message), "{sets:?}: {error}");
    }
}

/// As two launches, warps with sets in shared memory or in the L1D leave registers to the others, whose sets are larger by that.
#[test]
fn a_launch_for_each_place_has_larger_sets() {
    let most = |sets: &[&str]| {
        let ways = |ways: u32| {
            let sets: Vec<String> =
                sets.iter().map(|set| (*set).to_owned()).chain([format!("llc.ways={ways}")]).collect();
            Machine::load_with("rtx3080", &["morpheus-basic"], &sets).is_ok()
        };
        (1..=64).take_while(|count| ways(*count)).last()
    };
    let in_l1 = ["llc.shared.warps=0", "llc.l1.warps=16", "llc.l1.ways=64"];
    assert_eq!(most(&[]), Some(28));
    assert_eq!(most(&["llc.launches=by-place"]), Some(32));
    assert_eq!(most(&[&in_l1[..], &["llc.launches=by-place"]].concat()), Some(40));
}

#[test]
fn results_are_right_with_sets_in_the_l1d_and_a_launch_for_each_place() {
    let in_l1 = ["llc.shared.warps=2", "llc.shared.ways=3", "llc.l1.warps=2", "llc.l1.ways=4"];
    for launches in ["one", "by-place"] {
        let launches = format!("llc.launches={launches}");
        let machine = small(&[&in_l1[..], &[&launches]].concat());
        for workload in VARIED {
            let result = run(&machine, workload, How::CHECKED);
            assert!(hits(&result) > 0 && result.counter("morpheus", "false_hits").unwrap() > 0, "{workload}");
        }
    }
}

/// A system's numbers are for one GPU; those that fit another are found.
#[test]
fn a_kernel_fits_any_machine() {
    for (name, system) in [
        ("gtx480", "morpheus-all"),
        ("gtx480", "morpheus-basic"),
        ("fermi-apu", "morpheus-compression"),
        ("volta-fuse", "morpheus-all"),
        ("v100", "morpheus-indirect-mov"),
    ] {
        let sets = fit(name, &[system], &[]).unwrap_or_else(|error| panic!("{name}, {system}: {error}"));
        let machine = with_systems(name, &[system], &sets.iter().map(String::as_str).collect::<Vec<_>>());
        run(&machine, "atax", How::CHECKED);
        // Sets with one block more do not fit.
        let ways = sets.iter().find_map(|set| set.strip_prefix("llc.morpheus.ways=")).expect("it is named");
        let more: Vec<String> = sets
            .iter()
            .cloned()
            .chain([format!("llc.morpheus.ways={}", ways.parse::<u32>().unwrap() + 1)])
            .collect();
        assert!(Machine::load_with(name, &[system], &more).is_err(), "{name}, {system}: {sets:?}");
    }
    let refused = |systems: &[&str]| fit("gtx480", systems, &[]).expect_err("there is no kernel").to_string();
    assert!(refused(&["dy-fuse"]).contains("llc: found `conventional`, expected a design whose kernel"));
    assert!(refused(&["morpheus-free"]).contains("llc: found `morpheus-published`"));
}
