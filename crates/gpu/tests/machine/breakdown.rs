//! Counters by SM, slice, channel, launch, line, instruction, CTA and buffer: they add up to the run's, and name the part that is to blame.

use strata_engine::statistics::Group;
use strata_gpu::critical_path::PathOptions;
use strata_gpu::device::TimedDevice;
use strata_gpu::gpu::{Gpu, Makers};
use strata_gpu::machine::Machine;
use strata_gpu::region::{Most, Region};
use strata_gpu::results::{Breakdown, By, Counted, RunResult, merge_groups};
use strata_gpu::{RunRequest, run};
use strata_memory::NodeId;
use strata_memory::address::Address;
use strata_workloads::{Arg, Device, DevicePtr, HostProgram, Module, Shape, Size, all, find};

use crate::critical_path::whole_paths;
use crate::queues::all_cycles_are_counted;
use crate::support::{PLAIN, module, on_device};

fn broken_down(machine: &Machine, program: &dyn HostProgram, region: Region) -> RunResult {
    let mut progress = |_: &strata_gpu::Progress| {};
    let mut so_far = |_: &mut dyn FnMut() -> RunResult| ();
    let request = RunRequest {
        by: &By::ALL,
        // Those add up, too; one run of each workload is enough for both.
        critical_path: Some(PathOptions::default()),
        region,
        ..RunRequest::plain(program, machine, &mut progress, &mut so_far)
    };
    run(request).unwrap_or_else(|error| panic!("{}: {error}", program.name()))
}

/// The parts' groups added up are the run's groups of the same names.
fn adds_up(breakdown: &Breakdown, all: &[Group], what: &str) {
    let mut sum = Vec::new();
    for part in &breakdown.parts {
        merge_groups(&mut sum, part.groups.clone());
    }
    assert!(!sum.is_empty(), "{what}: by {} there is nothing", breakdown.by);
    let of_run = |name: &str| all.iter().find(|whole| whole.name == name);
    for group in &sum {
        let Some(whole) = of_run(group.name) else {
            assert!(breakdown.by.key().is_some(), "{what}: a run has the groups of its parts");
            continue;
        };
        for (counter, value) in group.definitions.iter().zip(&group.values) {
            let name = counter.name;
            assert_eq!(Some(*value), whole.get(name), "{what}: {}.{name} by {}", group.name, breakdown.by);
        }
    }
    if breakdown.by.key().is_some() {
        charges_are_whole(&sum, &of_run, what);
    }
    if breakdown.by == By::Launch {
        assert_eq!(sum.len(), all.len(), "{what}: a launch has all groups");
    }
}

/// What accounts have beside the run's counters agrees with these: each slot that waits for memory waits for a load, and each access that
/// reads is served by one level.
fn charges_are_whole<'a>(sum: &[Group], of_run: &impl Fn(&str) -> Option<&'a Group>, what: &str) {
    let charged = |name: &str| sum.iter().find(|group| group.name == name);
    if let Some(awaited) = charged("awaited") {
        let stalls = of_run("sm").and_then(|sm| sm.get("stall_memory"));
        assert_eq!(awaited.get("memory"), stalls, "{what}: somebody is waited for");
    }
    let served = charged("served").expect("accounts have accesses");
    let accesses: u64 =
        ["l1d", "llc", "extended", "memory", "owner"].iter().filter_map(|level| served.get(level)).sum();
    let lsu = of_run("lsu").expect("a run has a load/store unit");
    assert!(Some(accesses) <= lsu.get("completions"), "{what}: {accesses} accesses were served");
}

fn check(machine: &Machine, workload: &str, region: Region) -> RunResult {
    let program = find(workload).expect("a built-in workload").program(Size::Test).expect("it has the size");
    let result = broken_down(machine, program.as_ref(), region);
    assert_eq!(result.breakdowns.len(), By::ALL.len());
    for breakdown in &result.breakdowns {
        if breakdown.by == By::Queue {
            all_cycles_are_counted(breakdown, machine, &result, workload);
            continue;
        }
        adds_up(breakdown, &result.statistics, workload);
        if [By::Line, By::Instruction, By::Cta, By::Buffer].contains(&breakdown.by) {
            energy_adds_up(breakdown, &result, workload);
        }
    }
    whole_paths(&result, workload);
    result
}

/// The parts' energies added up are what the run's events take, structure by structure.
fn energy_adds_up(breakdown: &Breakdown, result: &RunResult, what: &str) {
    let Some(energy) = &result.energy else { return };
    for structure in &energy.structures {
        let of = |part: &Counted| part.energy_pj.iter().find(|(name, _)| *name == structure.name).unwrap().1;
        let (sum, all) = (breakdown.parts.iter().map(of).sum::<f64>(), structure.dynamic_pj());
        let name = &structure.name;
        assert!((sum - all).abs() <= all * 1e-9, "{what}: {name} by {}: {sum} of {all} pJ", breakdown.by);
        let negative = breakdown.parts.iter().find(|part| of(part) < -all * 1e-9);
        assert!(negative.is_none(), "{what}: {name} by {}: {negative:?}", breakdown.by);
    }
}

#[test]
fn sums_are_totals_on_all_workloads() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    for workload in all() {
        check(&machine, workload.name, Region::default());
    }
}

#[test]
fn sums_are_totals_on_all_kinds_of_machine() {
    let sets = |sets: &[&str]| sets.iter().map(|set| (*set).to_owned()).collect::<Vec<_>>();
    for (name, systems, overrides, workload) in [
        ("v100", &[][..], &[][..], "bfs"),
        ("rtx3080-quarter", &["morpheus-all"], &["gpu.cache_sms=3", "gpu.gated_sms=2"], "atax"),
        ("rtx3080-quarter", &["morpheus-as-published"], &["gpu.cache_sms=3"], "kmeans"),
        ("stash-apu", &["stash"], &[], "implicit@stash"),
        ("gtx480", &["dy-fuse", "hi-end"], &[], "bfs"),
        ("fermi-apu", &["tcbase"], &[], "hotspot"),
    ] {
        let machine =
            Machine::load_with(name, systems, &sets(overrides)).unwrap_or_else(|error| panic!("{error}"));
        check(&machine, workload, Region::default());
    }
}

/// A line has what its instructions have.
#[test]
fn instructions_add_up_to_their_lines() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let result = check(&machine, "sgemm", Region::default());
    let of = |by| result.breakdowns.iter().find(|breakdown| breakdown.by == by).expect("it was asked for");
    let (lines, instructions) = (of(By::Line), of(By::Instruction));
    assert!(instructions.parts.len() > lines.parts.len(), "some lines have become several");
    for line in &lines.parts {
        let mut sum = Vec::new();
        let name = |part: &str| part.split(" #").next().unwrap_or_default().to_owned();
        for part in instructions.parts.iter().filter(|part| name(&part.name) == line.name) {
            merge_groups(&mut sum, part.groups.clone());
        }
        assert_eq!(sum, line.groups, "{}", line.name);
    }
}

/// Of a region, what its launches counted.
#[test]
fn sums_are_totals_of_a_region() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let whole = check(&machine, "bfs", Region::default());
    let region = Region { from: Some(2), to: Some(4), ..Region::default() };
    let some = check(&machine, "bfs", Region { warm: true, ..region });
    let by_launch = |result: &RunResult| {
        result
            .breakdowns
            .iter()
            .find(|breakdown| breakdown.by == By::Launch)
            .expect("it was asked for")
            .clone()
    };
    // Warm launches are the whole run's.
    assert_eq!(by_launch(&some).parts, by_launch(&whole).parts[2..=4]);
}

/// What CTAs that only warm caches are charged is nobody's.
#[test]
fn sums_are_totals_without_the_ctas_that_warm_caches() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let program = find("gemm").unwrap().program(Size::Test).unwrap();
    let most = Most { ctas: Some(6), ..Most::default() };
    let region = Region { from: Some(0), from_cta: Some(8), warm_ctas: 4, most, ..Region::default() };
    let mut progress = |_: &strata_gpu::Progress| {};
    let mut so_far = |_: &mut dyn FnMut() -> RunResult| ();
    let plain = RunRequest::plain(program.as_ref(), &machine, &mut progress, &mut so_far);
    let by = [By::Launch, By::Line, By::Cta, By::Buffer, By::Level, By::Queue];
    let result = run(RunRequest { by: &by, region, ..plain }).unwrap();
    let (queues, others) = result.breakdowns.split_last().expect("they were asked for");
    others.iter().for_each(|breakdown| adds_up(breakdown, &result.statistics, "gemm"));
    all_cycles_are_counted(queues, &machine, &result, "gemm");
    let ctas = result.breakdowns.iter().find(|breakdown| breakdown.by == By::Cta).expect("it was asked for");
    let names: Vec<&str> = ctas.parts.iter().map(|part| part.name.as_str()).collect();
    let of = |cta: &u64| format!("launch 0 (gemm) cta {cta}");
    let expected: Vec<String> = (8..14).map(|cta| of(&cta)).chain(["elsewhere".to_owned()]).collect();
    assert_eq!(names, expected);
}

/// One CTA runs on one SM, and loads lines of one channel: that SM and that channel have all of the work.
#[test]
fn the_busy_sm_and_channel_are_named() {
    const TEXT: &str = ".visible .entry k(.param .u64 data, .param .u64 lines) {\n\
        .reg .b64 %a, %b;\n.reg .b32 %t, %v;\n\
        mov.u32 %t, %tid.x;\nld.param.u64 %a, [lines];\nmad.wide.u32 %a, %t, 4, %a;\nld.global.u32 %v, [%a];\n\
        ld.param.u64 %b, [data];\nmad.wide.u32 %b, %v, 128, %b;\nld.global.cg.u32 %v, [%b];\nst.global.u32 [%b], %v;\nret;\n}\n";
    const CHANNEL: u16 = 3;
    let machine = Machine::load("gtx480", &[]).unwrap();
    let map = machine.file().gpu.address_map(NodeId(0)).unwrap();
    on_device(&machine, PLAIN, &module(TEXT), |device| {
        let data = device.alloc("data", 1 << 20).unwrap();
        let lines = device.alloc("lines", 256).unwrap();
        let of_channel = |line: &u32| {
            let home = map.home(Address(data.0 + u64::from(*line) * 128).line());
            map.channel_of(home.slice).0 == CHANNEL
        };
        let chosen: Vec<u8> = (0..8192).filter(of_channel).take(64).flat_map(u32::to_le_bytes).collect();
        device.upload(lines, &chosen).unwrap();
        device.gpu().break_down(&By::ALL);
        device.launch("k", Shape::new([1, 1, 1], [64, 1, 1]), &[Arg::Ptr(data), Arg::Ptr(lines)]).unwrap();
        let breakdowns = device.gpu().breakdowns().to_vec();
        let of = |by, path: &str| {
            breakdowns.iter().find(|breakdown| breakdown.by == by).expect("it was asked for").counter(path)
        };
        let busy: Vec<usize> = of(By::Sm, "sm.warp_instructions")
            .iter()
            .enumerate()
            .filter(|(_, count)| **count != Some(0))
            .map(|(sm, _)| sm)
            .collect();
        assert_eq!(busy.len(), 1);
        let reads = of(By::Channel, "dram.reads");
        let all: u64 = reads.iter().flatten().sum();
        let [of_channel, others] =
            [reads[usize::from(CHANNEL)].unwrap(), all - reads[usize::from(CHANNEL)].unwrap()];
        // Code, parameters and the list lie elsewhere.
        assert!(of_channel >= 64 && others < of_channel, "{reads:?}");
    });
}

/// What a program is charged, by line, CTA and buffer, with all cycles ticked or with idle ones skipped.
fn charged(machine: &Machine, ticks: bool, text: &str, host: fn(&mut TimedDevice<'_>)) -> [Breakdown; 3] {
    const BY: [By; 3] = [By::Line, By::Cta, By::Buffer];
    let accounts = BY.iter().filter_map(|by| by.key()).collect();
    let mut gpu = Gpu::with(machine, PLAIN, Makers { accounts, ..Makers::default() }).unwrap();
    if ticks {
        gpu.tick_every_cycle();
    }
    let mut progress = |_: &strata_gpu::Progress| {};
    let module = Module { name: "test.ptx", text };
    let mut device = TimedDevice::on(gpu, machine, module, &mut progress).unwrap();
    device.gpu().break_down(&BY);
    host(&mut device);
    device.gpu().breakdowns().to_vec().try_into().expect("there are three")
}

/// A counter of the parts that have some of it.
fn some(breakdown: &Breakdown, path: &str) -> Vec<(String, u64)> {
    let values = breakdown.parts.iter().zip(breakdown.counter(path));
    values.filter_map(|(part, value)| Some((part.name.clone(), value.filter(|value| *value > 0)?))).collect()
}

/// One lane follows pointers through lines that are in no cache (line 9), and uses what it finds (line 10). CTA 1 does nothing.
const CHASE: &str = ".visible .entry k(.param .u64 chain, .param .u64 out) {\n\
    .reg .b64 %a, %o;\n.reg .b32 %n, %s, %v;\n.reg .pred %p;\n\
    mov.u32 %n, %ctaid.x;\nsetp.ne.u32 %p, %n, 0;\n@%p bra END;\n\
    ld.param.u64 %a, [chain];\nmov.u32 %n, 64;\nmov.u32 %s, 0;\n\
    LOOP:\nld.global.u64 %a, [%a];\ncvt.u32.u64 %v, %a;\nadd.u32 %s, %s, %v;\n\
    sub.u32 %n, %n, 1;\nsetp.ne.u32 %p, %n, 0;\n@%p bra LOOP;\n\
    ld.param.u64 %o, [out];\nst.global.u32 [%o], %s;\nEND:\nret;\n}\n";

fn chase(device: &mut TimedDevice<'_>) {
    let chain = device.alloc("chain", 65 * 4096).unwrap();
    let out = device.alloc("out", 4).unwrap();
    for link in 0..64 {
        let next = chain.0 + 4096 * (link + 1);
        device.upload(DevicePtr(chain.0 + 4096 * link), &next.to_le_bytes()).unwrap();
    }
    device.launch("k", Shape::new([2, 1, 1], [1, 1, 1]), &[Arg::Ptr(chain), Arg::Ptr(out)]).unwrap();
}

fn line_of(text: &str, instruction: &str) -> String {
    let line = text.lines().position(|line| line.contains(instruction)).expect("the text has it");
    format!("k:{}", line + 1)
}

#[test]
fn the_line_the_cta_and_the_buffer_to_blame_are_named() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let text = module(CHASE);
    let [lines, ctas, buffers] = charged(&machine, false, &text, chase);
    let [load, user] = ["ld.global.u64", "cvt.u32.u64"].map(|instruction| line_of(&text, instruction));
    // The next load waits, as its address does, where the conversion does not come first.
    let waiting = some(&lines, "sm.stall_memory");
    let most = waiting.iter().max_by_key(|(_, slots)| *slots).expect("somebody waits");
    assert!(most.0 == user || most.0 == load, "{waiting:?}");
    // All that wait, wait for the load; but for the first of the parameters.
    let awaited = some(&lines, "awaited.memory");
    let of_load = awaited.iter().find(|(name, _)| *name == load).expect("the load is awaited").1;
    let all: u64 = awaited.iter().map(|(_, slots)| slots).sum();
    assert!(of_load * 10 > all * 9, "{awaited:?}");
    assert_eq!(some(&lines, "served.memory"), [(load.clone(), 64)]);
    assert_eq!(some(&lines, "sm.issued").iter().find(|(name, _)| *name == load).unwrap().1, 64);
    // The slots that 64 accesses take are what one warp waits for them.
    let cycles = some(&lines, "served.memory_cycles")[0].1;
    assert!(of_load > cycles * 8 / 10, "{of_load} slots, {cycles} cycles");

    let [first, second] = [0, 1].map(|cta| format!("launch 0 (k) cta {cta}"));
    assert_eq!(some(&ctas, "sm.stall_memory"), [(first.clone(), all)]);
    assert_eq!(some(&ctas, "served.memory"), [(first, 64)]);
    let issued = some(&ctas, "sm.issued");
    assert!(issued.iter().any(|(name, count)| *name == second && *count < 8), "{issued:?}");

    let of = |path| {
        some(&buffers, path)
            .into_iter()
            .map(|(name, count)| (name.split(' ').next().unwrap().to_owned(), count))
    };
    assert_eq!(of("lsu.accesses").collect::<Vec<_>>(), [("chain".to_owned(), 64), ("out".to_owned(), 1)]);
    assert_eq!(of("served.memory").collect::<Vec<_>>(), [("chain".to_owned(), 64)]);
}

/// What is charged depends neither on the length of windows nor on threads, nor on whether cycles are skipped.
#[test]
fn charges_do_not_depend_on_how_a_run_is_made() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    for workload in ["atax", "bfs", "reduction"] {
        let program = find(workload).unwrap().program(Size::Test).unwrap();
        // What is asked for twice is charged once.
        let by = [By::Line, By::Cta, By::Buffer, By::Line];
        let run_with = |threads, window| {
            let mut progress = |_: &strata_gpu::Progress| {};
            let mut so_far = |_: &mut dyn FnMut() -> RunResult| ();
            let plain = RunRequest::plain(program.as_ref(), &machine, &mut progress, &mut so_far);
            run(RunRequest { by: &by, threads, window, ..plain }).unwrap()
        };
        let plain = run_with(1, None);
        assert_eq!(plain.breakdowns.len(), 3);
        plain.breakdowns.iter().for_each(|breakdown| adds_up(breakdown, &plain.statistics, workload));
        for (threads, window) in [(1, Some(1)), (2, None), (2, Some(3))] {
            let other = run_with(threads, window);
            assert_eq!(
                other.breakdowns, plain.breakdowns,
                "{workload}: {threads} threads, windows of {window:?}"
            );
        }
        let mut progress = |_: &strata_gpu::Progress| {};
        let mut so_far = |_: &mut dyn FnMut() -> RunResult| ();
        let without = run(RunRequest::plain(program.as_ref(), &machine, &mut progress, &mut so_far)).unwrap();
        assert_eq!(
            without.statistics_hash(),
            plain.statistics_hash(),
            "{workload}: a ledger changes nothing"
        );
    }
    let text = module(CHASE);
    assert_eq!(charged(&machine, false, &text, chase), charged(&machine, true, &text, chase));
}
