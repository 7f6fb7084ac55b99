//! Traces: the slices of a load known by hand, counts that are the counters', and the same bytes on any number of threads.

pub mod read;
mod sample;

use strata_engine::statistics::Group;
use strata_gpu::device::TimedDevice;
use strata_gpu::gpu::Gpu;
use strata_gpu::machine::Machine;
use strata_gpu::results::{RunResult, Verdict};
use strata_gpu::trace::{TraceOptions, Tracer};
use strata_gpu::{RunError, RunRequest, run};
use strata_workloads::{Arg, Device, HostProgram, Module, Shape, Size, find};

use crate::support::{PLAIN, gtx480, module};
use read::{Read, Slice};

const EVERYTHING: TraceOptions =
    TraceOptions { from: 0, cycles: u64::MAX, launch: None, sms: Vec::new(), sample: 1, sample_warps: 1 };

fn traced(
    machine: &Machine,
    program: &dyn HostProgram,
    options: &TraceOptions,
    threads: usize,
) -> Result<(RunResult, Option<Vec<u8>>), RunError> {
    let (mut trace, mut progress, mut so_far) =
        (None, |_: &strata_gpu::Progress| {}, |_: &mut dyn FnMut() -> RunResult| ());
    let mut take = |bytes| trace = bytes;
    let result = run(RunRequest {
        trace: Some((options.clone(), &mut take)),
        threads,
        ..RunRequest::plain(program, machine, &mut progress, &mut so_far)
    })?;
    Ok((result, trace))
}

fn test_size(name: &str) -> Box<dyn HostProgram> {
    find(name).expect("a built-in workload").program(Size::Test).expect("it has the size")
}

fn counter(result: &RunResult, path: &str) -> u64 {
    let (group, name) = path.split_once('.').unwrap();
    let group = result.statistics.iter().find(|found| found.name == group);
    group.and_then(|group| group.get(name)).unwrap_or_else(|| panic!("no {path}"))
}

/// One thread follows four pointers, each to a line of its own.
pub const CHASE: &str = "
.visible .entry k(.param .u64 at) {
.reg .u64 %p;
ld.param.u64 %p, [at];
ld.global.u64 %p, [%p];
ld.global.u64 %p, [%p];
ld.global.u64 %p, [%p];
ld.global.u64 %p, [%p];
st.global.u64 [%p], %p;
ret;
}
";

/// Lets the kernel of the chase go through a chain.
pub fn follow_chain(device: &mut TimedDevice<'_>) {
    let buffer = device.alloc("chain", 4096).unwrap();
    let mut words = vec![0_u64; 512];
    (0..5).for_each(|link| words[64 * link] = buffer.0 + 512 * ((link as u64 + 1) % 5));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    device.upload(buffer, &bytes).unwrap();
    device.launch("k", Shape::new([1, 1, 1], [1, 1, 1]), &[Arg::Ptr(buffer)]).unwrap();
}

/// Traces a kernel, which `go` launches. Returns the trace and the run's statistics.
fn traced_kernel(
    machine: &Machine,
    kernel: &str,
    options: &TraceOptions,
    go: impl Fn(&mut TimedDevice<'_>),
) -> (Read, Vec<Group>) {
    let text = module(kernel);
    let tracer = Tracer::new(machine, options.clone(), &text).unwrap();
    let gpu = Gpu::with(machine, PLAIN, tracer.makers(Vec::new())).unwrap();
    let mut progress = |_: &strata_gpu::Progress| {};
    let module = Module { name: "kernel.ptx", text: &text };
    let mut device = TimedDevice::on(gpu, machine, module, &mut progress).unwrap();
    device.gpu().trace(tracer);
    go(&mut device);
    let groups = device.statistics();
    let trace = device.gpu().take_trace().unwrap().into_bytes().unwrap();
    (Read::new(&trace), groups)
}

/// Traces the chase. Returns the trace, and the LSU's latency of all instructions.
pub fn chase(machine: &Machine) -> (Read, u64) {
    let (read, groups) = traced_kernel(machine, CHASE, &EVERYTHING, follow_chain);
    let lsu = groups.iter().find(|group| group.name == "lsu").unwrap();
    (read, lsu.get("latency_cycles").unwrap())
}

/// The stages of an access: slices that begin where the one before ends.
fn stages<'a>(read: &'a Read, access: &Slice) -> Vec<&'a Slice> {
    let inside = |slice: &&Slice| {
        slice.category == "stage"
            && slice.track == access.track
            && access.from <= slice.from
            && slice.to <= access.to
    };
    let stages: Vec<&Slice> = read.slices.iter().filter(inside).collect();
    assert_eq!(stages.first().map(|stage| stage.from), Some(access.from));
    assert_eq!(stages.last().map(|stage| stage.to), Some(access.to));
    for pair in stages.windows(2) {
        assert_eq!(pair[0].to, pair[1].from, "{} and {} meet", pair[0].name, pair[1].name);
    }
    stages
}

#[test]
fn a_load_has_its_stages_in_order_and_they_add_up_to_its_latency() {
    for (machine, what) in [(gtx480(&[]), "one clock"), (crate::support::four_clocks(&[]), "four")] {
        let (read, latency) = chase(&machine);
        let loads: Vec<&Slice> = read.slices.iter().filter(|s| s.category == "access").collect();
        assert_eq!(
            loads.iter().map(|load| load.name.as_str()).collect::<Vec<_>>(),
            ["ld.global.u64", "ld.global.u64", "ld.global.u64", "ld.global.u64", "st.global.u64"],
            "{what}"
        );
        let mut cycles = 0;
        for load in &loads[..4] {
            let stages = stages(&read, load);
            let names: Vec<&str> = stages.iter().map(|stage| stage.name.as_str()).collect();
            assert_eq!(names, ["LSU", "L1D miss", "MSHR", "fill", "write-back"], "{what}");
            // Until all is here; the write-back comes after.
            cycles += stages[4].from - load.from;
            // What takes place elsewhere while the MSHR waits.
            let (miss, mshr) = (stages[1], stages[2]);
            let flow = miss.flow.expect("a packet");
            let elsewhere = |category: &str| {
                let of: Vec<&Slice> =
                    read.slices.iter().filter(|s| s.flow == Some(flow) && s.category == category).collect();
                assert_eq!(of.len(), 1, "{what}: {category}");
                of[0]
            };
            let [request, llc, dram, reply] = ["request", "llc", "dram", "reply"].map(elsewhere);
            assert_eq!((request.from, reply.to), (mshr.from, mshr.to), "{what}");
            assert_eq!((request.to, llc.to), (llc.from, reply.from), "{what}");
            let in_llc: Vec<&str> =
                self::stages(&read, llc).iter().map(|stage| stage.name.as_str()).collect();
            assert_eq!(in_llc, ["LLC miss", "DRAM", "LLC reply"], "{what}");
            assert!(llc.from < dram.from && dram.from < dram.to && dram.to < llc.to, "{what}");
            assert_eq!(stages[3].flow, Some(flow), "{what}: the fill ends it");
        }
        let store = stages(&read, loads[4]);
        let names: Vec<&str> = store.iter().map(|stage| stage.name.as_str()).collect();
        assert_eq!(names, ["LSU", "L1D store", "write-back"], "{what}");
        cycles += store[2].from - loads[4].from;
        assert_eq!(cycles, latency, "{what}: accesses have all of the latency");
        // A warp waits for memory while its load is under way, and issues what its kernel says.
        let issued: Vec<&str> =
            read.slices.iter().filter(|s| s.category == "instruction").map(|s| s.name.as_str()).collect();
        assert_eq!(
            issued[issued.len() - 6..],
            ["ld.global.u64", "ld.global.u64", "ld.global.u64", "ld.global.u64", "st.global.u64", "ret"],
            "{what}"
        );
        let waited = read.slices.iter().filter(|s| s.category == "wait" && s.name == "memory");
        let waited: u64 = waited.map(|s| s.to - s.from).sum();
        assert!(waited > cycles / 2, "{what}: {waited} of {cycles}");
    }
}

#[test]
fn counts_are_the_counters_and_the_run_is_the_same() {
    for (name, systems) in [("bfs", &["l1-sram"][..]), ("atax", &["dy-fuse"]), ("histogram", &[])] {
        let machine = Machine::load_with("gtx480", systems, &[]).unwrap();
        let program = test_size(name);
        let (result, trace) = traced(&machine, program.as_ref(), &EVERYTHING, 1).unwrap();
        assert_eq!(result.verdict, Verdict::Verified, "{name}");
        let mut progress = |_: &strata_gpu::Progress| {};
        let plain = run(RunRequest::plain(program.as_ref(), &machine, &mut progress, &mut |_| ())).unwrap();
        assert_eq!(result.statistics, plain.statistics, "{name}: a trace changes nothing");
        let read = Read::new(&trace.unwrap());
        for (category, slice, path) in [
            ("instruction", "", "sm.issued"),
            ("access", "", "lsu.accesses"),
            ("llc", "", "partition.requests"),
            ("dram", "read", "dram.reads"),
            ("dram", "write", "dram.writes"),
        ] {
            let found =
                read.slices.iter().filter(|s| s.category == category && s.name.starts_with(slice)).count();
            assert_eq!(found as u64, counter(&result, path), "{name}: {path}");
        }
        for (track, path) in [("DRAM activates", "dram.activates"), ("DRAM row hits", "dram.row_hits")] {
            assert_eq!(read.sum(track), counter(&result, path), "{name}: {path}");
        }
        assert!(
            read.values("DRAM queue").iter().all(|value| *value < 1000),
            "{name}: none leaves before it comes"
        );
    }
}

#[test]
fn bytes_are_the_same_on_any_number_of_threads() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let program = test_size("bfs");
    let options = TraceOptions { from: 1000, cycles: 3000, ..EVERYTHING };
    let [one, again, two] =
        [1, 1, 2].map(|threads| traced(&machine, program.as_ref(), &options, threads).unwrap().1.unwrap());
    assert!(one == again, "twice");
    assert!(one == two, "two threads");
    let read = Read::new(&one);
    assert!(read.slices.iter().all(|slice| 1000 <= slice.from && slice.from < 4000), "slices of the window");
}

#[test]
fn a_trace_is_of_the_launch_and_the_sms_that_are_asked_for() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let program = test_size("bfs");
    let options = TraceOptions { launch: Some(2), sms: vec![3, 0], ..EVERYTHING };
    let (result, trace) = traced(&machine, program.as_ref(), &options, 1).unwrap();
    let read = Read::new(&trace.unwrap());
    let before: u64 = result.launches[..2].iter().map(|launch| launch.cycles).sum();
    let after = before + result.launches[2].cycles;
    let launch = read.slices.iter().find(|slice| slice.category == "launch").unwrap();
    assert!(before <= launch.from && launch.to <= after + 1000, "{before} to {after}: {launch:?}");
    let sms: Vec<&String> = read.processes.iter().filter(|name| name.starts_with("SM")).collect();
    assert_eq!(sms, ["SM 0", "SM 3"]);
    let beyond = TraceOptions { launch: Some(1000), ..EVERYTHING };
    assert_eq!(traced(&machine, program.as_ref(), &beyond, 1).unwrap().1, None);
    let wrong = TraceOptions { sms: vec![15], ..EVERYTHING };
    let error = traced(&machine, program.as_ref(), &wrong, 1).unwrap_err().to_string();
    assert_eq!(error, "trace: found SM 15, expected 0 to 14, which run programs");
}
