//! Critical paths: chains known by hand, stages that are the trace's, and cycles that add up to the launch's on all workloads.

use std::collections::BTreeMap;

use strata_gpu::critical_path::{Cause, MOST_STEPS, PathFinder, PathOptions, Paths};
use strata_gpu::device::TimedDevice;
use strata_gpu::gpu::Gpu;
use strata_gpu::machine::Machine;
use strata_gpu::results::RunResult;
use strata_gpu::{RunRequest, run};
use strata_workloads::{Arg, Device, HostProgram, Module, Shape, Size, all, find};

use crate::support::{PLAIN, four_clocks, gtx480, module};
use crate::trace;

/// The most of a run's cycles that may have no cause, in percent.
const MOST_UNKNOWN: f64 = 2.0;

/// Instructions come when they are needed, whatever cache line they are in.
const NO_MISSES: &str = "instruction_cache.perfect=true";

/// Causes with their cycles.
type Causes = BTreeMap<Cause, u64>;

fn paths(
    machine: &Machine,
    text: &str,
    options: PathOptions,
    host: impl FnOnce(&mut TimedDevice<'_>),
) -> Paths {
    let finder = PathFinder::new(machine, options).unwrap();
    let gpu = Gpu::with(machine, PLAIN, finder.makers(Vec::new())).unwrap();
    let mut progress = |_: &strata_gpu::Progress| {};
    let mut device = TimedDevice::on(gpu, machine, Module { name: "path.ptx", text }, &mut progress).unwrap();
    device.gpu().find_paths(finder);
    host(&mut device);
    device.gpu().paths().expect("they were asked for").clone()
}

/// The paths of one launch of kernel `k` with a pointer to a kilobyte.
fn of_launch(machine: &Machine, text: &str, ctas: u32, threads: u32, options: PathOptions) -> Paths {
    paths(machine, text, options, |device| {
        let out = device.alloc("out", 1024).unwrap();
        device.launch("k", Shape::new([ctas, 1, 1], [threads, 1, 1]), &[Arg::Ptr(out)]).unwrap();
    })
}

/// The causes of each line of a text that begins so, in order.
fn of_lines(paths: &Paths, text: &str, begins: &str) -> Vec<Causes> {
    let causes = |number: usize| {
        let name = format!("k:{}", number + 1);
        let lines = paths.by_line();
        let found = lines.into_iter().find(|(line, _, _)| *line == Some(name.as_str()));
        found.map_or(Causes::new(), |(_, _, causes)| causes.into_iter().collect())
    };
    text.lines().enumerate().filter(|(_, line)| line.starts_with(begins)).map(|(at, _)| causes(at)).collect()
}

fn sum(lines: &[Causes]) -> Causes {
    let mut sum = Causes::new();
    lines.iter().flatten().for_each(|(cause, cycles)| *sum.entry(*cause).or_default() += cycles);
    sum
}

/// What an instruction takes until one can issue that reads its result: operands are granted in the cycle after its issue and in the unit in
/// the next (sm/src/lib.rs), then it passes the pipeline and the unit.
fn chained(machine: &Machine, unit_cycles: u32) -> Causes {
    let pipeline = *machine.file().sm.pipeline_latency_cycles;
    Causes::from([(Cause::Operands, 2), (Cause::Execution, u64::from(pipeline + unit_cycles))])
}

/// Kernel `k` with a body, in which `%rd0` is where results go, and `%r0` the thread.
fn kernel(body: &str) -> String {
    module(&format!(
        ".visible .entry k(.param .u64 out) {{\n.reg .u64 %rd<4>;\n.reg .u32 %r<8>;\n.reg .f32 %f<8>;\n.reg .pred %p<4>;\n\
         ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\n{body}ret;\n}}\n"
    ))
}

/// So many multiply-adds, each of which reads the one before.
fn chain(count: usize) -> String {
    "fma.rn.f32 %f0, %f0, %f0, %f0;\n".repeat(count)
}

#[test]
fn a_chain_of_multiply_adds_takes_their_latency_each() {
    let text = kernel(&format!("cvt.rn.f32.u32 %f0, %r0;\n{}st.global.f32 [%rd0], %f0;\n", chain(8)));
    for cycles in [5, 17] {
        let latency = format!("sm.timing.f32_fma.latency_cycles={cycles}");
        let machine = gtx480(&[NO_MISSES, &latency]);
        let paths = of_launch(&machine, &text, 1, 32, PathOptions::default());
        let found = of_lines(&paths, &text, "fma");
        assert_eq!(found, vec![chained(&machine, cycles); 8], "{latency}: the last one is read by the store");
        let [path] = &paths.launches[..] else { panic!("one launch: {paths:?}") };
        assert_eq!(path.by_cause().iter().map(|(_, cycles)| cycles).sum::<u64>(), path.cycles);
    }
}

#[test]
fn a_chase_of_pointers_has_the_stages_of_the_trace() {
    for (machine, what) in [(gtx480(&[]), "one clock"), (four_clocks(&[]), "four")] {
        let text = module(trace::CHASE);
        let found = paths(&machine, &text, PathOptions::default(), trace::follow_chain);
        let mut found = sum(&of_lines(&found, &text, "ld.global"));
        assert!(found.remove(&Cause::FetchMiss).is_some(), "{what}: the first instruction brings the code");
        let (read, _) = trace::chase(&machine);
        let loads: Vec<_> = read
            .slices
            .iter()
            .filter(|slice| slice.category == "access" && slice.name.starts_with("ld"))
            .collect();
        assert_eq!(loads.len(), 4);
        let is_of_load = |slice: &&trace::read::Slice| {
            loads
                .iter()
                .any(|load| load.track == slice.track && load.from <= slice.from && slice.to <= load.to)
        };
        let stage = |name: &str| -> u64 {
            let of = read.slices.iter().filter(|slice| slice.category == "stage" && slice.name == name);
            of.filter(is_of_load).map(|slice| slice.to - slice.from).sum()
        };
        let of_packets = |category: &str, name: &str| -> u64 {
            let of = read.slices.iter().filter(|slice| slice.category == category && slice.name == name);
            of.map(|slice| slice.to - slice.from).sum()
        };
        // Instructions are fetched through slices, too; of those of the L1D, the loads are the only ones that read.
        let flows: Vec<u64> = read
            .slices
            .iter()
            .filter(|slice| slice.category == "request" && slice.name == "read")
            .filter_map(|slice| slice.flow)
            .collect();
        let in_slices: Vec<_> = read
            .slices
            .iter()
            .filter(|slice| slice.category == "llc" && slice.flow.is_some_and(|flow| flows.contains(&flow)))
            .collect();
        let in_slice = |name: &str| -> u64 {
            let is_in = |slice: &&trace::read::Slice| {
                in_slices
                    .iter()
                    .any(|llc| llc.track == slice.track && llc.from <= slice.from && slice.to <= llc.to)
            };
            let of = read.slices.iter().filter(|slice| slice.category == "stage" && slice.name == name);
            of.filter(is_in).map(|slice| slice.to - slice.from).sum()
        };
        let expected = Causes::from([
            // Granted a cycle after the issue, and in the unit in the next; the first load reads no register, but a parameter.
            (Cause::Operands, 1 + 3 * 2),
            (Cause::Lsu, stage("LSU")),
            (Cause::Miss, stage("L1D miss")),
            (Cause::Request, of_packets("request", "read")),
            (Cause::LlcMiss, in_slice("LLC miss")),
            (Cause::Dram, in_slice("DRAM")),
            (Cause::LlcReply, in_slice("LLC reply")),
            (Cause::Reply, of_packets("reply", "read")),
            (Cause::Fill, stage("fill")),
            (Cause::WriteBack, stage("write-back")),
        ]);
        assert_eq!(found, expected, "{what}");
    }
}

#[test]
fn the_path_goes_through_the_warp_that_comes_to_a_barrier_last() {
    // Warp 1 has a chain before the barrier, warp 0 one behind it.
    let products = "mul.rn.f32 %f1, %f1, %f1;\n".repeat(40);
    let text = kernel(&format!(
        "cvt.rn.f32.u32 %f0, %r0;\nmov.f32 %f1, %f0;\nsetp.lt.u32 %p0, %r0, 32;\nmul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd0, %rd0, %rd1;\n\
         @%p0 bra JOIN;\n{}JOIN:\nbar.sync 0;\n@!%p0 bra END;\n{products}END:\nadd.f32 %f2, %f0, %f1;\nst.global.f32 [%rd0], %f2;\n",
        chain(30)
    ));
    let machine = gtx480(&[NO_MISSES]);
    let paths = of_launch(&machine, &text, 1, 64, PathOptions::default());
    let timing = &machine.file().sm.timing;
    let (fma, mul) = (*timing.f32_fma.latency_cycles, *timing.f32_mul.latency_cycles);
    // The first of each chain is fetched behind a branch. The barrier does not wait for the last multiply-add.
    let (of_one, of_zero) = (of_lines(&paths, &text, "fma"), of_lines(&paths, &text, "mul.rn"));
    assert_eq!(of_one[1..29], vec![chained(&machine, fma); 28], "warp 1's");
    assert_eq!(of_one[29], Causes::from([(Cause::Issue, 1)]));
    assert_eq!(of_zero[1..], vec![chained(&machine, mul); 39], "warp 0's");
    let at_barrier = of_lines(&paths, &text, "bar");
    assert!(at_barrier[0].contains_key(&Cause::Barrier), "{at_barrier:?}");
    assert_eq!(paths.by_cause().iter().filter(|(cause, _)| *cause == Cause::Unknown).count(), 0);
}

/// A machine whose SMs have room for one CTA each.
fn one_place(sets: &[&str]) -> Machine {
    gtx480(&[&["sm.cta_slots=1", NO_MISSES], sets].concat())
}

#[test]
fn a_cta_that_waits_for_a_place_has_the_path_of_the_one_that_had_it() {
    let text = kernel(&format!("cvt.rn.f32.u32 %f0, %r0;\n{}st.global.f32 [%rd0], %f0;\n", chain(20)));
    let machine = one_place(&[]);
    let file = machine.file();
    let sms = u32::from(*file.gpu.sms);
    let way = u64::from(*file.gpu.dispatch_latency_cycles);
    let fma = *file.sm.timing.f32_fma.latency_cycles;
    for (ctas, waves) in [(sms, 1), (sms + 1, 2), (3 * sms, 3)] {
        let paths = of_launch(&machine, &text, ctas, 32, PathOptions::default());
        let chain =
            chained(&machine, fma).into_iter().map(|(cause, cycles)| (cause, waves * cycles)).collect();
        assert_eq!(of_lines(&paths, &text, "fma"), vec![chain; 20], "{ctas} CTAs: each wave's");
        // The first gets its command; the next is told of the end of the one before, too.
        let dispatch = paths.by_cause().into_iter().find(|(cause, _)| *cause == Cause::Dispatch);
        assert_eq!(dispatch, Some((Cause::Dispatch, way + (waves - 1) * 2 * way)), "{ctas} CTAs");
        let end = paths.by_cause().into_iter().find(|(cause, _)| *cause == Cause::LaunchEnd);
        // That the last CTA has ended, the command to flush, and that it is done: in the cycle after that, the launch has ended.
        assert_eq!(end, Some((Cause::LaunchEnd, 3 * way + 1)), "{ctas} CTAs");
    }
}

#[test]
fn what_no_path_can_reach_is_forgotten_and_a_launch_without_room_is_left_out() {
    // Of each CTA the path has one of four warps, and the CTA's beginning and end.
    let text = kernel(&format!("cvt.rn.f32.u32 %f0, %r0;\n{}st.global.f32 [%rd0], %f0;\n", chain(20)));
    let machine = one_place(&[]);
    let launched =
        |steps| of_launch(&machine, &text, 15 * 20, 128, PathOptions { steps, ..PathOptions::default() });
    let (whole, forgetful) = (launched(MOST_STEPS), launched(1100 * 15));
    assert_eq!(whole.launches.len(), 1);
    assert_eq!(whole, forgetful, "20 CTAs of 4 warps with 25 steps each pass through an SM");
    let without_room = launched(200 * 15);
    assert_eq!(without_room.launches, []);
    let [left] = &without_room.left_out[..] else { panic!("{without_room:?}") };
    let reason = "it is too long: an SM would have to keep more than its 200 steps";
    assert_eq!((left.launch, left.kernel.as_str(), left.reason.as_str()), (0, "k", reason));
}

fn asked(machine: &Machine, program: &dyn HostProgram, options: PathOptions, threads: usize) -> RunResult {
    let mut progress = |_: &strata_gpu::Progress| {};
    let mut so_far = |_: &mut dyn FnMut() -> RunResult| ();
    let plain = RunRequest::plain(program, machine, &mut progress, &mut so_far);
    let request = RunRequest { critical_path: Some(options), threads, ..plain };
    run(request).unwrap_or_else(|error| panic!("{}: {error}", program.name()))
}

fn test_size(name: &str) -> Box<dyn HostProgram> {
    find(name).expect("a built-in workload").program(Size::Test).expect("it has the size")
}

#[test]
fn paths_change_nothing_and_are_the_same_on_any_number_of_threads() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let program = test_size("bfs");
    let mut progress = |_: &strata_gpu::Progress| {};
    let plain = run(RunRequest::plain(program.as_ref(), &machine, &mut progress, &mut |_| ())).unwrap();
    assert_eq!(plain.critical_paths, None);
    let [one, two] = [1, 2].map(|threads| asked(&machine, program.as_ref(), PathOptions::default(), threads));
    assert_eq!(plain.statistics, one.statistics);
    assert_eq!(plain.launches, one.launches);
    assert_eq!(one.critical_paths, two.critical_paths);
    let third = PathOptions { launch: Some(2), ..PathOptions::default() };
    let third = asked(&machine, program.as_ref(), third, 1).critical_paths.unwrap();
    assert_eq!(third.launches, [one.critical_paths.unwrap().launches[2].clone()]);
}

/// Every launch has a path, whose cycles are the launch's, and hardly any of them have no cause.
pub fn whole_paths(result: &RunResult, what: &str) {
    let paths = result.critical_paths.as_ref().expect("they were asked for");
    assert_eq!(paths.left_out, [], "{what}");
    let cycles = |launches: &mut dyn Iterator<Item = u64>| launches.collect::<Vec<u64>>();
    let of_launches = cycles(&mut result.launches.iter().map(|launch| launch.cycles));
    let of_paths =
        cycles(&mut paths.launches.iter().map(|path| path.parts.iter().map(|part| part.cycles).sum()));
    assert_eq!(of_paths, of_launches, "{what}");
    assert_eq!(cycles(&mut paths.launches.iter().map(|path| path.cycles)), of_launches, "{what}");
    let unknown: u64 =
        paths.parts().filter(|part| part.cause == Cause::Unknown).map(|part| part.cycles).sum();
    let share = 100.0 * unknown as f64 / paths.cycles().max(1) as f64;
    assert!(share <= MOST_UNKNOWN, "{what}: {share:.2} % of {} cycles have no cause", paths.cycles());
}

#[test]
fn paths_are_whole_where_words_have_owners() {
    // On the GTX 480, the sums of breakdowns are checked in the same runs (breakdown.rs).
    let machine = Machine::load("stash-apu", &[]).unwrap();
    for workload in all() {
        // Its CTAs do not fit the machine.
        if workload.name == "histo" {
            continue;
        }
        let program = workload.program(Size::Test).expect("it has the size");
        whole_paths(&asked(&machine, program.as_ref(), PathOptions::default(), 1), workload.name);
    }
}
