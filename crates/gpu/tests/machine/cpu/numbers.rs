//! Values through the caches of both sides; and threads, windows and skips, which change no number.

use strata_engine::statistics::Group;
use strata_gpu::device::TimedDevice;
use strata_gpu::gpu::Gpu;
use strata_gpu::machine::Machine;
use strata_gpu::results::{RunResult, Verdict};
use strata_gpu::{find_races, profile_program};
use strata_workloads::{Arg, Device, DeviceError, HostProgram, Module, Outcome, launch_file};

use super::programs::PingPong;
use super::{CPU_CORES, CROSSBAR, with_cores};
use crate::support::{FOUR_CLOCKS, How, PLAIN, gtx480, run_on, verified};

/// Machines whose networks, clocks and L1Ds differ.
fn machines() -> Vec<Machine> {
    let sets = |own: &[&'static str]| [&["gpu.sms=4"], own].concat();
    vec![
        with_cores(&[], &sets(&["cpu.cores=4"])),
        with_cores(&["mesh"], &sets(&["network.placement=together", "cpu.cores=15"])),
        with_cores(&["mesh"], &sets(&["network.columns=3", "network.rows=3", "cpu.clock_mhz=450"])),
        with_cores(&[FOUR_CLOCKS], &sets(&[CROSSBAR, "cpu.l1d.ways=1", "cpu.l1d.sets=2", "cpu.cores=7"])),
        with_cores(&["dy-fuse"], &sets(&["cpu.cores=2", "cpu.l1d.write_policy=write-through"])),
    ]
}

const PROGRAM: PingPong = PingPong { threads: 11, rounds: 3 };

/// Cycles and instructions of each phase.
fn phases(result: &RunResult) -> Vec<(u64, u64)> {
    result.phases.iter().map(|phase| (phase.cycles, phase.instructions)).collect()
}

#[test]
fn the_gpu_and_cpu_cores_see_each_others_writes() {
    for machine in machines() {
        let result = verified(&machine, &PROGRAM, How::CHECKED, machine.name());
        assert!(result.statistics.iter().all(|group| group.broken.is_none()));
        assert_eq!(result.phases.len(), 3);
        assert!(result.phases.iter().all(|phase| !phase.functional && phase.cycles > 1000));
        let after: Vec<u64> = result.phases.iter().map(|phase| phase.after_launches).collect();
        assert_eq!(after, [1, 2, 3]);
        assert_eq!(result.counter("cpu", "threads"), Some(33));
        let instructions: u64 = result.phases.iter().map(|phase| phase.instructions).sum();
        assert_eq!(result.counter("cpu", "instructions"), Some(instructions));
        assert_eq!(result.cycles(), result.launch_cycles() + result.phase_cycles());
        assert!(result.counter("cpu.l1d", "accesses") > Some(3 * 3000));
    }
}

#[test]
fn more_cores_are_faster() {
    let cycles = |cores: &'static str| {
        let machine = with_cores(&[], &[CROSSBAR, cores, "gpu.sms=2"]);
        verified(&machine, &PingPong { threads: 8, rounds: 1 }, How::CHECKED, cores).phase_cycles()
    };
    let (one, four) = (cycles("cpu.cores=1"), cycles("cpu.cores=4"));
    assert!(3 * four < one && one < 5 * four, "{one} cycles with one core, {four} with four");
}

#[test]
fn without_cores_a_phase_takes_no_time() {
    let result = verified(&gtx480(&["gpu.sms=4"]), &PROGRAM, How::CHECKED, "gtx480");
    assert!(result.phases.iter().all(|phase| phase.functional && phase.cycles == 0));
    let on_cores = verified(&with_cores(&[], &[CROSSBAR]), &PROGRAM, How::PLAIN, "with cores");
    let instructions =
        |result: &RunResult| -> Vec<u64> { result.phases.iter().map(|phase| phase.instructions).collect() };
    assert_eq!(instructions(&result), instructions(&on_cores));
    assert_eq!(result.counter("cpu", "threads"), None);
    assert!(result.summary().contains("no CPU cores: run functionally"), "{}", result.summary());
    let json = result.to_json();
    assert_eq!(
        (json["host_phases"][0]["functional"].as_bool(), &json["host_phase_cycles"]),
        (Some(true), &0.into())
    );
}

#[test]
fn threads_and_windows_change_no_number() {
    for machine in machines() {
        let one = verified(&machine, &PROGRAM, How::PLAIN, machine.name());
        for (threads, window) in [(1, Some(1)), (2, Some(3)), (4, None)] {
            let how = How { threads, window, ..How::PLAIN };
            let other = verified(&machine, &PROGRAM, how, machine.name());
            assert_eq!(one.statistics, other.statistics, "{}: {threads}, {window:?}", machine.name());
            assert_eq!(one.statistics_hash(), other.statistics_hash());
            assert_eq!(phases(&one), phases(&other));
        }
    }
}

#[test]
fn skipping_is_ticking() {
    let program = PingPong { threads: 5, rounds: 2 };
    for machine in machines() {
        let skipping = run_on(&machine, &program, How::PLAIN).unwrap();
        let mut progress = |_: &strata_gpu::Progress| {};
        let mut gpu = Gpu::new(&machine, PLAIN).unwrap();
        gpu.tick_every_cycle();
        let mut device = TimedDevice::on(gpu, &machine, program.module(), &mut progress).unwrap();
        program.run(&mut device).unwrap();
        assert_eq!(skipping.launches, device.launches(), "{}", machine.name());
        assert_eq!(skipping.phases, device.phases(), "{}", machine.name());
        // SMs that are ticked also count idle cycles; cores do not.
        let cores = |group: &&Group| group.name.starts_with("cpu") || group.name.starts_with("network");
        let ticked = device.statistics();
        let (one, other): (Vec<_>, Vec<_>) =
            (skipping.statistics.iter().filter(cores).collect(), ticked.iter().filter(cores).collect());
        assert_eq!(one, other, "{}", machine.name());
    }
}

#[test]
fn races_among_threads_of_a_phase_are_found() {
    let machine = gtx480(&[]);
    let clean = find_races(&PROGRAM, &machine).unwrap();
    assert_eq!((clean.races.launches, clean.races.races.len()), (6, 0), "{}", clean.races);
    let racy = find_races(&Racy, &machine).unwrap();
    assert_eq!(racy.races.races.len(), 1, "{}", racy.races);
    assert_eq!(racy.races.races[0].buffer, Some(("sum".to_owned(), 0)));
}

/// Threads on CPU cores that all write one word.
#[derive(Debug)]
struct Racy;

impl HostProgram for Racy {
    fn name(&self) -> &str {
        "racy"
    }

    fn module(&self) -> Module<'_> {
        let text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 sum)\n{\n\
                    .reg .b32 %r<2>; .reg .b64 %d<2>;\nld.param.u64 %d0, [sum];\nmov.u32 %r0, %ctaid.x;\n\
                    st.global.u32 [%d0], %r0;\nret;\n}\n";
        Module { name: "racy.ptx", text }
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let sum = device.alloc("sum", 4)?;
        // Two phases do not race with each other.
        device.on_cpu("k", 1, &[Arg::Ptr(sum)])?;
        device.on_cpu("k", 3, &[Arg::Ptr(sum)])?;
        Ok(Outcome::default())
    }
}

#[test]
fn profiles_are_of_the_gpu_alone() {
    let (profile, outcome) = profile_program(&PROGRAM, &gtx480(&[])).unwrap();
    assert!(outcome.passed());
    assert_eq!(profile.launches, 3);
    assert_eq!(profile.kernels.keys().collect::<Vec<_>>(), ["gpu"]);
}

#[test]
fn the_example_is_right_and_phases_count_in_the_time() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cpu-cores/launch.toml");
    let program = launch_file::read(std::path::Path::new(path)).unwrap_or_else(|error| panic!("{error}"));
    let result = verified(&with_cores(&[], &[CROSSBAR]), &program, How::CHECKED, "the example");
    assert_eq!((result.launches.len(), result.phases.len()), (1, 1));
    assert_eq!(result.cycles(), result.launches[0].cycles + result.phases[0].cycles);
    let summary = result.summary();
    assert!(summary.contains("  host phase                  add_up, 4 threads: "), "{summary}");
    assert!(summary.contains("  L1D of CPU cores"), "{summary}");
}

#[test]
fn without_a_section_of_their_own_the_cores_l1ds_are_those_of_sms() {
    let mut table = with_cores(&["dy-fuse"], &["cpu.cores=2", "gpu.sms=3"]).table().clone();
    table["cpu"].as_table_mut().expect("a section").remove("l1d").expect("a section");
    let machine = Machine::parse(std::path::Path::new("m.toml"), &table.to_string(), &[]).unwrap();
    let doors = &machine.file().doors;
    assert_eq!(
        (doors.cpu_l1d().name, doors.cpu_l1d().capacity_bytes()),
        ("fuse", doors.l1d.capacity_bytes())
    );
    assert!(machine.outline().contains("CPU 2 cores at 2000 MHz, L1D "), "{}", machine.outline());
    verified(&machine, &PROGRAM, How::CHECKED, "m.toml");
}

#[test]
fn phases_end_beside_sms_that_never_rest() {
    let sets = ["llc.morpheus.wait=polled", "gpu.sms=6", "gpu.cache_sms=2", "cpu.cores=3"].map(str::to_owned);
    let systems = ["morpheus-basic", CPU_CORES];
    let machine = Machine::load_with("rtx3080", &systems, &sets).unwrap_or_else(|error| panic!("{error}"));
    let result = verified(&machine, &PingPong { threads: 4, rounds: 2 }, How::CHECKED, "rtx3080");
    assert!(result.phases.iter().all(|phase| !phase.functional && phase.cycles > 1000));
    assert!(result.counter("cache_mode.sm", "warp_instructions") > Some(0));
}

#[test]
fn launches_stay_as_they_are_when_cores_are_added() {
    let program = strata_workloads::find("bfs").unwrap().program(strata_workloads::Size::Test).unwrap();
    let without = verified(&gtx480(&[CROSSBAR]), program.as_ref(), How::PLAIN, "gtx480");
    let mut with = verified(&with_cores(&[], &[CROSSBAR]), program.as_ref(), How::PLAIN, "with cores");
    assert_eq!(without.verdict, Verdict::Verified);
    for launch in &mut with.launches {
        let not_counted = std::mem::take(&mut launch.energy.as_mut().unwrap().unknown);
        assert_eq!(not_counted, ["CPU cores and their L1Ds"]);
    }
    assert_eq!(without.launches, with.launches);
}
