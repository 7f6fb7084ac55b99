//! Laws of differences on whole runs, and places where runs part that are known without comparing them.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use strata_gpu::machine::Machine;
use strata_gpu::{Progress, RunRequest, run};
use strata_measure::exact::Exact;
use strata_workloads::Size;

use super::*;
use crate::program::Program;
use crate::variant::Variant;

static NEVER: AtomicBool = AtomicBool::new(false);

const HOW: How<'_> = How { threads: 1, at_once: 2, store: None, interrupt: &NEVER };

fn repeat(program: &str, machine: &str, sets: &[&str]) -> Repeat {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let values = Machine::load(machine, &sets).unwrap().table().clone().into();
    let about = Variant { name: machine.into(), base: machine.into(), system: None, sets, version: None };
    let (program, region) = (program.to_owned(), strata_gpu::region::Region::default());
    Repeat { program, size: Size::Test, values, about, region, start: None, max_cycles: None }
}

fn side(repeat: &Repeat) -> Side {
    repeat.side("a run", HOW).unwrap()
}

fn sum(attribution: &Attribution) -> Exact {
    attribution.causes.iter().map(Cause::change).sum()
}

#[test]
fn a_difference_of_cycles_is_the_sum_over_its_causes() {
    let pairs = [
        (repeat("saxpy", "gtx480", &[]), repeat("saxpy", "gtx480", &["l1d.ways=1"])),
        (repeat("bfs", "gtx480", &[]), repeat("bfs", "fermi-apu", &[])),
        (repeat("bfs", "gtx480", &[]), repeat("bfs", "gtx480", &["sm.schedulers=1", "gpu.sms=7"])),
        (repeat("implicit", "stash-apu", &[]), repeat("implicit", "stash-apu", &["l1d.ways=2"])),
        (repeat("saxpy", "volta-fuse", &[]), repeat("bfs", "rtx3080-quarter", &[])),
    ];
    for (left, right) in &pairs {
        let name = format!("{} on {}, {}", left.program, left.about.name, right.about.name);
        let (left, right) = (side(left), side(right));
        let difference = Difference::between(&left, &right, &[]);
        let whole = Exact::change(left.cycles, right.cycles);
        assert_ne!(whole, Exact::ZERO, "{name}");
        let attribution = difference.attribution.as_ref().unwrap();
        assert_eq!(sum(attribution), whole, "{name}");
        assert!(attribution.causes.iter().all(|cause| cause.name != OUTSIDE), "{name}");
        let [one, other] = [|cause: &Cause| cause.left, |cause: &Cause| cause.right]
            .map(|of| attribution.causes.iter().map(of).sum::<Exact>());
        assert_eq!([one, other], [left.cycles, right.cycles].map(|cycles| Exact::from(i128::from(cycles))));
        let (_, of_sm) = difference.busiest.as_ref().expect("the runs are broken down by SM");
        assert_eq!(sum(of_sm), whole, "{name}");
        for launch in &difference.launches {
            if let Some(attribution) = &launch.attribution {
                assert_eq!(sum(attribution), Exact::from(launch.change()), "{name}, launch {}", launch.place);
            }
        }
        let host = Exact::change(left.host_cycles, right.host_cycles);
        let of_launches: i128 = difference.launches.iter().map(LaunchChange::change).sum();
        assert_eq!(Exact::from(of_launches) + host, whole, "{name}");
    }
}

#[test]
fn a_run_differs_from_itself_in_nothing_and_never_parts() {
    let bfs = repeat("bfs", "gtx480", &[]);
    let (one, other) = (side(&bfs), bfs.side("again", How { threads: 2, ..HOW }).unwrap());
    let difference = Difference::between(&one, &other, &[]);
    assert!(difference.is_nothing() && difference.asked.is_empty(), "{difference:?}");
    assert_eq!(difference.attribution.unwrap().causes.iter().map(Cause::change).max(), Some(Exact::ZERO));
    assert!(matches!(first(&bfs, &bfs, HOW).unwrap(), First::Never { looks } if looks > 1024));
}

/// A launch file in a folder, of a kernel of one warp with these instructions after `%rd1` has the buffer's address and `%r0` the
/// thread's number.
fn program(folder: &Path, name: &str, body: &str) -> String {
    let ptx = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n.reg .b32 %r<40>;\n.reg .b64 %rd<4>;\n\
         mov.u32 %r0, %tid.x;\nld.param.u64 %rd1, [out];\n{body}\nret;\n}}\n"
    );
    let toml = format!(
        "name = \"{name}\"\nmodule = \"{name}.ptx\"\n[[buffer]]\nname = \"out\"\ntype = \"u32\"\ncount = 1024\n\
         contents = {{ constant = 0 }}\n[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [32]\narguments = [{{ buffer = \"out\" }}]\n"
    );
    std::fs::write(folder.join(format!("{name}.ptx")), ptx).unwrap();
    let path = folder.join(format!("{name}.toml"));
    std::fs::write(&path, toml).unwrap();
    path.to_string_lossy().into_owned()
}

/// The cycles in which a counter went up, of the first launch's.
fn when(repeat: &Repeat, group: &str, counter: &str) -> Vec<u64> {
    let program = Program::find(&repeat.program).unwrap().at(Size::Test).unwrap();
    let mut cycles = Vec::new();
    let mut see = |progress: &Progress| {
        let Some(sample) = &progress.sample else { return };
        let found = sample.counted.iter().find(|counted| counted.name == group).unwrap();
        if found.get(counter).unwrap() > 0 {
            cycles.push(sample.from);
        }
    };
    let machine = repeat.machine().unwrap();
    run(RunRequest {
        sample_cycles: Some(1),
        ..RunRequest::plain(program.as_ref(), &machine, &mut see, &mut |_| ())
    })
    .unwrap();
    cycles
}

fn parting(left: &Repeat, right: &Repeat, how: How<'_>) -> Parting {
    match first(left, right, how).unwrap() {
        First::Here(parting) => *parting,
        First::Never { looks } => panic!("they do not part, at {looks} cycles"),
    }
}

/// Two loads of one line: the first misses, the second hits.
const TWICE: &str = "ld.global.u32 %r1, [%rd1];\nadd.u32 %r2, %r1, 1;\nst.global.u32 [%rd1+256], %r2;\n\
                     ld.global.u32 %r3, [%rd1+4];\nadd.u32 %r4, %r3, 1;\nst.global.u32 [%rd1+384], %r4;";

#[test]
fn runs_of_different_hit_latencies_part_where_the_first_hit_answers() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), "twice", TWICE);
    let of = |cycles: u64| repeat(&program, "gtx480", &[&format!("l1d.hit_latency_cycles={cycles}")]);
    // The second access of the L1D is the load that hits.
    let asked = when(&of(10), "l1d", "accesses")[1];
    for (one, other) in [(10, 20), (10, 30), (15, 20), (20, 10)] {
        let parting = parting(&of(one), &of(other), HOW);
        let expected = asked + one.min(other);
        assert_eq!((parting.from, parting.to), (expected, expected), "{one} and {other}");
        assert!(parting.every_cycle && parting.slots);
        let [part] = &parting.parts[..] else { panic!("{:?}", parting.parts) };
        assert_eq!(part.part, "sm 0");
        let finished = part.counters.iter().find(|(counter, _)| counter == "lsu.finished").unwrap();
        assert_eq!(finished.1, if one < other { [2, 1] } else { [1, 2] });
    }
}

#[test]
fn kernels_that_differ_in_an_instruction_part_where_it_issues() {
    let folder = tempfile::tempdir().unwrap();
    let chain = |other: Option<usize>| {
        let step = |n: usize| {
            let operation = if other == Some(n) { "mul.lo.u32" } else { "xor.b32" };
            format!("{operation} %r{n}, %r{}, {};\n", n - 1, 100 + n)
        };
        let steps: String = (1..=12).map(step).collect();
        let name = other.map_or("plain".to_owned(), |n| format!("other-{n}"));
        repeat(&program(folder.path(), &name, &(steps + "st.global.u32 [%rd1], %r12;")), "gtx480", &[])
    };
    let plain = chain(None);
    // The first is the thread's number.
    let issued = when(&plain, "sm", "issued_int_add");
    for n in [1, 6, 12] {
        let parting = parting(&plain, &chain(Some(n)), HOW);
        assert_eq!((parting.from, parting.to), (issued[n], issued[n]), "instruction {n}");
        let counters = &parting.parts[0].counters;
        assert!(counters.contains(&("sm.issued_int_mul".to_owned(), [0, 1])), "{counters:?}");
    }
}

#[test]
fn where_runs_part_does_not_depend_on_threads_and_is_found_from_afar() {
    // In the first the looks are a cycle apart there, in the second several.
    for ways in ["l1d.ways=1", "l1d.ways=2"] {
        part_from_afar(&repeat("bfs", "gtx480", &[ways]));
    }
}

fn part_from_afar(right: &Repeat) {
    let left = repeat("bfs", "gtx480", &[]);
    let here = parting(&left, right, HOW);
    assert_eq!(here, parting(&left, right, How { threads: 2, ..HOW }));
    assert!(here.from > 1024 && here.every_cycle, "{here:?}");
    // Beyond the cycles that are all looked at, the second pass begins where the first one found the runs alike.
    let far = super::first::find_beyond(&left, right, 0, HOW).unwrap();
    let First::Here(far) = far else { panic!("they part in cycle {}", here.from) };
    assert_eq!((far.from, far.to, &far.parts), (here.from, here.to, &here.parts));
    assert!(!far.every_cycle);
}

#[test]
fn shares_add_up_to_the_difference_and_come_from_their_seed() {
    let left = repeat("saxpy", "gtx480", &[]);
    let few = ["l1d.ways=1", "sm.schedulers=1", "dram.timing.cl=20"];
    let many = [
        "l1d.ways=1",
        "sm.schedulers=1",
        "dram.timing.cl=20",
        "clocks.dram_mhz=700",
        "l1d.hit_latency_cycles=40",
    ];
    let ask = |seed| Ask { chains: 2, seed, together: vec![] };
    let shares = |right: &Repeat, ask: Ask, how| {
        attribute((&left, &side(&left)), (right, &side(right)), &ask, how).unwrap()
    };
    for sets in [&few[..], &many[..]] {
        let right = repeat("saxpy", "gtx480", sets);
        let found = shares(&right, ask(1), HOW);
        assert_eq!(found.cycles, [side(&left).cycles, side(&right).cycles]);
        let whole = Exact::change(found.cycles[0], found.cycles[1]);
        assert_eq!(found.values.iter().copied().sum::<Exact>(), whole);
        assert_eq!(found.changes.len(), sets.len());
        if let Found::Subsets { parts } = &found.found {
            assert_eq!(Exact::from(parts.iter().map(|(_, part)| part).sum::<i128>()), whole);
            // What one value brings alone is what a run with it alone takes more.
            let alone = found.changes.iter().position(|change| change.name() == "l1d.sram.ways").unwrap();
            let alone = parts.iter().find(|(subset, _)| *subset == 1 << alone).unwrap().1;
            let run = side(&repeat("saxpy", "gtx480", &["l1d.ways=1"]));
            assert_eq!(Exact::from(alone), Exact::change(found.cycles[0], run.cycles));
        }
        assert_eq!(found, shares(&right, ask(1), How { at_once: 1, ..HOW }));
    }
}

#[test]
fn a_record_and_the_json_of_a_run_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for (workload, machine) in [("saxpy", "gtx480"), ("implicit", "stash-apu")] {
        let run = repeat(workload, machine, &[]);
        let stored = run.side("stored", How { store: Some(folder.path()), ..HOW }).unwrap();
        let difference = Difference::between(&side(&run), &stored, &[]);
        assert!(difference.is_nothing() && difference.asked.is_empty(), "{difference:?}");
        assert!(difference.energies.is_some() && stored.slots_a_cycle.is_some());
    }
}

#[test]
fn what_is_no_run_is_refused_by_field() {
    let refused = |text: &str| Side::from_json("a.json", &serde_json::from_str(text).unwrap()).unwrap_err();
    for (text, expected) in [
        ("[]", "a.json: schema: found none, expected \"strata-run-1\": the JSON of `strata run --json`"),
        (r#"{"schema": "strata-run-1"}"#, "a.json: launches: found nothing, expected an array"),
        (
            r#"{"schema": "strata-run-1", "launches": [], "cycles": -1}"#,
            "a.json: cycles: found -1, expected a count",
        ),
        (
            r#"{"schema": "strata-run-1", "launches": [], "cycles": 1, "statistics": {"sm": {"issued": "x"}}}"#,
            "a.json: statistics.sm.issued: found \"x\", expected a count",
        ),
    ] {
        assert_eq!(refused(text), expected);
    }
}

#[test]
fn whoever_looks_at_a_machines_parts_changes_nothing() {
    use std::ops::ControlFlow;
    use std::sync::mpsc::channel;

    use strata_gpu::gpu::{Seen, Watch};
    // The third machine has CPU cores and host phases, the last one SMs in cache mode, which never come to rest.
    for (workload, machine, system) in [
        ("bfs", "gtx480", None),
        ("saxpy", "fermi-apu", None),
        ("implicit", "stash-apu", None),
        ("saxpy", "rtx3080-quarter", Some("morpheus-basic")),
    ] {
        let values = Machine::load_with(machine, system.as_slice(), &[]).unwrap().table().clone().into();
        let run = Repeat { values, ..repeat(workload, machine, &[]) };
        let machine = run.machine().unwrap();
        let plain = run.run(&machine, &[], HOW, None).unwrap();
        for pace in [u64::MAX, 100] {
            let (shown, seen) = channel::<Seen>();
            let see = move |seen| {
                shown.send(seen).unwrap();
                ControlFlow::Continue(())
            };
            let from = if pace == u64::MAX { plain.cycles().saturating_sub(800) } else { 0 };
            let watch = Watch::new(from, pace, Box::new(see));
            let watched = run.run(&machine, &[], HOW, Some(watch)).unwrap();
            assert_eq!(watched.statistics_hash(), plain.statistics_hash(), "{workload}, pace {pace}");
            assert_eq!(watched.launches, plain.launches, "{workload}, pace {pace}");
            let seen: Vec<Seen> = seen.into_iter().collect();
            assert!(seen.is_sorted_by_key(|seen| seen.cycle) && seen.len() > 4, "{workload}");
            // At the end the parts have counted all that the machine has.
            let counted = |group: &str, counter: &str| -> u64 {
                let groups = seen.last().unwrap().parts.iter().flat_map(|part| &part.groups);
                groups.filter(|found| found.name == group).filter_map(|group| group.get(counter)).sum()
            };
            for (group, counter) in
                [("sm", "issued"), ("l1d", "accesses"), ("l2", "requests"), ("dram", "reads")]
            {
                let all = plain.counter(group, counter).unwrap();
                assert_eq!(counted(group, counter), all, "{workload}: {group}.{counter}");
            }
        }
    }
}
