//! What limits a run: programs bound by one thing, whose cycles are known by hand, and what holds of every run.

use std::sync::atomic::{AtomicUsize, Ordering};

use strata_gpu::machine::Machine;
use strata_gpu::results::{RunResult, Verdict};
use strata_gpu::{RunRequest, run as run_on_gpu};
use strata_measure::limits::{Limits, Part, Request, run};
use strata_measure::program::Program;
use strata_workloads::Size;

fn machine(name: &str, sets: &[&str]) -> Machine {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load(name, &sets).unwrap_or_else(|error| panic!("{error}"))
}

fn ideal(machine: &Machine, parts: &[Part]) -> Machine {
    parts.iter().fold(machine.clone(), |machine, part| {
        part.over(&machine).unwrap_or_else(|error| panic!("{part}: {error}"))
    })
}

/// Runs a program of this folder.
fn play(name: &str, machine: &Machine) -> RunResult {
    let path = format!("{}/tests/limits/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let program = Program::find(&path).and_then(|program| program.at(Size::Test)).unwrap();
    let result = run_on_gpu(RunRequest {
        check: true,
        ..RunRequest::plain(program.as_ref(), machine, &mut |_| (), &mut |_| ())
    });
    let result = result.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(result.verdict, Verdict::Verified);
    result
}

/// Cycles by which the last launch takes longer than the one before, for each of its further steps.
fn step(name: &str, machine: &Machine, further: u64) -> f64 {
    let result = play(name, machine);
    let [.., short, long] = &result.launches[..] else { panic!("two launches differ in their steps") };
    (long.cycles - short.cycles) as f64 / further as f64
}

fn limits(program: &str, machine: &Machine, parts: &[Part], threads: usize) -> Limits {
    let request =
        Request { program, size: Size::Test, machine, parts, threads, check: true, interrupt: None };
    let ended = AtomicUsize::new(0);
    let limits = run(&request, &|_, _| _ = ended.fetch_add(1, Ordering::Relaxed)).unwrap();
    assert_eq!(ended.into_inner(), limits.outcomes.len());
    limits
}

/// Cycles with these parts ideal.
fn cycles(limits: &Limits, parts: &[Part]) -> u64 {
    let outcome = limits.outcomes.iter().find(|outcome| outcome.parts == parts);
    outcome.expect("it is a variant").ran.as_ref().unwrap_or_else(|error| panic!("{parts:?}: {error}")).cycles
}

#[test]
fn a_chain_of_misses_costs_a_hit_of_the_level_that_is_ideal() {
    let gtx480 = machine("gtx480", &[]);
    // The machine's file: a load that hits the L1D comes back 40 cycles after it issues, one that hits the L2 after 182. Every step
    // is at a line of its own, which the L1D does not have and the L2 has.
    let cost = |parts: &[Part]| step("chase", &ideal(&gtx480, parts), 256);
    assert_eq!(cost(&[]), 182.0);
    assert_eq!(cost(&[Part::Network]), 182.0, "an idle network is ideal");
    assert_eq!(cost(&[Part::Mshrs]), 182.0, "one load at a time needs one MSHR");
    assert_eq!(cost(&[Part::L1d]), 40.0);
    // An L2 of a line, which has none of them.
    let tiny = machine("gtx480", &["llc.sets=1", "llc.ways=1"]);
    let misses = step("chase", &tiny, 256);
    assert!(misses > 282.0, "DRAM's controller alone takes 100 cycles, found {misses}");
    assert_eq!(step("chase", &ideal(&tiny, &[Part::Llc]), 256), 182.0);
    // Of DRAM there are left a cycle to open a row and a burst's 2, of 924 MHz, and of the L2 a miss's way through its queues.
    let least = step("chase", &ideal(&tiny, &[Part::DramLatency, Part::DramBandwidth]), 256);
    assert!((182.0..200.0).contains(&least), "{least}");
}

#[test]
fn conflicts_of_32_ways_cost_31_passes() {
    let gtx480 = machine("gtx480", &[]);
    let banks = ideal(&gtx480, &[Part::Banks]);
    assert_eq!(step("conflicts", &gtx480, 64) - step("conflicts", &banks, 64), 31.0);
    let passes = |machine| play("conflicts", machine).counter("lsu", "shared_passes").unwrap();
    // 192 loads, and a store in each launch.
    assert_eq!((passes(&gtx480), passes(&banks)), (194 * 32, 194));
}

#[test]
fn one_mshr_fetches_one_line_at_a_time() {
    let one = ideal(&machine("gtx480", &["l1d.mshr_entries=1"]), &[Part::Llc]);
    // An MSHR is held for as long as a load of the L2 takes in L1D and below, 182 less 13 cycles in the rest of the SM, and a few
    // until the last flit of the line has come.
    let period = step("scatter", &one, 16);
    assert!((165.0..=175.0).contains(&period), "{period}");
    // Without the limit, the line's 136 bytes on the wire are 4 flits of 40, which come one a cycle.
    assert_eq!(step("scatter", &ideal(&one, &[Part::Mshrs]), 16), 4.0);
    // And without the network's limit, an access a cycle starts at the L1D's port, and none waits for another.
    assert_eq!(step("scatter", &ideal(&one, &[Part::Mshrs, Part::Network]), 16), 1.0);
}

#[test]
fn a_stream_is_as_fast_as_dram_or_faster_with_an_ideal_one() {
    // A 32nd of the bandwidth: 6 channels of 64 bytes in 64 cycles of 924 MHz, where a core has 700.
    let slow = machine("gtx480", &["dram.burst_cycles=64"]);
    let found = limits("saxpy", &slow, &[Part::DramLatency, Part::DramBandwidth], 2);
    let dram = found.roofline.nearest().unwrap();
    assert_eq!(dram.name, "DRAM");
    assert!((dram.peak - 6.0 * 64.0 / 64.0 * 924.0 / 700.0).abs() < 1e-9, "{dram:?}");
    assert!((0.6..=1.0).contains(&dram.share()), "{dram:?}");
    let [as_it_is, latency, bandwidth] =
        [&[][..], &[Part::DramLatency], &[Part::DramBandwidth]].map(|parts| cycles(&found, parts));
    assert!(2 * bandwidth < as_it_is, "{bandwidth} of {as_it_is}");
    assert!(latency > as_it_is / 2, "the bus is what it waits for: {latency} of {as_it_is}");
    let moved = ["read_bytes", "written_bytes"].map(|name| found.run.counter("dram", name).unwrap());
    assert!((moved[0] + moved[1]) as f64 <= as_it_is as f64 * dram.peak);
}

#[test]
fn values_are_right_whatever_is_ideal_and_what_is_hidden_changes_nothing() {
    use Part::{DramBandwidth, DramLatency, L1d, Llc, Mshrs, Network};
    for (name, program) in
        [("gtx480", "bfs"), ("gtx480", "histogram"), ("v100", "reduction"), ("fermi-apu", "saxpy")]
    {
        let machine = machine(name, &[]);
        let found = limits(program, &machine, &Part::ALL, 2);
        // The machine, each part, and all but the first part with those before.
        assert_eq!(found.outcomes.len(), 1 + 8 + 7);
        for outcome in &found.outcomes {
            let ran =
                outcome.ran.as_ref().unwrap_or_else(|error| panic!("{name}: {:?}: {error}", outcome.parts));
            assert_eq!(ran.verdict, Verdict::Verified, "{name}: {program}: {:?}", outcome.parts);
            assert_eq!((ran.late, ran.left), (0, 0), "{name}: {program}: {:?}", outcome.parts);
        }
        // What stands below an L2 that always hits, or an L1D that does, never works.
        let below = limits(program, &machine, &[DramLatency, DramBandwidth, Llc, Network, Mshrs, L1d], 2);
        assert_eq!(
            cycles(&below, &[DramLatency, DramBandwidth, Llc]),
            cycles(&found, &[Llc]),
            "{name}: {program}"
        );
        let all = [DramLatency, DramBandwidth, Llc, Network, Mshrs, L1d];
        assert_eq!(cycles(&below, &all), cycles(&found, &[L1d]), "{name}: {program}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let machine = machine("gtx480", &[]);
    let [one, four] = [1, 4].map(|threads| limits("saxpy", &machine, &Part::ALL, threads));
    assert_eq!((&one.outcomes, &one.roofline), (&four.outcomes, &four.roofline));
    assert_eq!(one.run.statistics_hash(), four.run.statistics_hash());
}

#[test]
fn what_cannot_be_ideal_says_why() {
    let load =
        |name, system| Machine::load_with(name, &[system], &[]).unwrap_or_else(|error| panic!("{error}"));
    for (machine, part, reason) in [
        (load("volta-fuse", "dy-fuse"), Part::L1d, "found l1d.fuse, expected l1d.sram"),
        (
            load("gtx480", "mesh"),
            Part::Network,
            "found network.mesh, expected network.multistage or network.crossbar",
        ),
        (load("rtx3080", "morpheus-basic"), Part::Llc, "found llc.morpheus, expected llc.conventional"),
    ] {
        let error = part.over(&machine).expect_err("it cannot be");
        assert!(error.contains(reason), "{error}");
        let found = limits("saxpy", &machine, &[Part::Fetch, part], 1);
        assert_eq!(found.outcomes.len(), 3, "nothing is ideal together with what cannot be");
        assert_eq!(found.outcomes[2].ran, Err(error));
    }
    // The machine as it is keeps its identity.
    let machine = machine("gtx480", &[]);
    assert_eq!(machine.hash(), Machine::load("gtx480", &[]).unwrap().hash());
    assert_ne!(Part::Llc.over(&machine).unwrap().hash(), machine.hash());
}
