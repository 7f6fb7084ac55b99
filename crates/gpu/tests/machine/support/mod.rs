//! What the tests of whole machines share.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod random;
pub mod variation;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_gpu::device::TimedDevice;
use strata_gpu::gpu::{Gpu, GpuOptions};
use strata_gpu::machine::Machine;
use strata_gpu::results::{LaunchResult, RunResult, Verdict};
use strata_gpu::{RunError, RunRequest, run};
use strata_memory::doors::{L1d, L1dSite};
use strata_workloads::{Arg, Device, DeviceError, HostProgram, Module, Shape};

/// One thread, the longest window, no limit.
pub const PLAIN: GpuOptions =
    GpuOptions { threads: 1, saves_threads: false, window: None, limit: Cycle::NEVER, interrupt: None };

/// Puts something around the L1D that the machine names, once for each SM.
pub type WrapL1d<'a> = &'a mut dyn FnMut(L1dSite, Box<dyn L1d>) -> Box<dyn L1d>;

/// A GPU whose L1Ds are wrapped.
pub fn with_wrapped_l1ds(machine: &Machine, options: GpuOptions, wrap: WrapL1d<'_>) -> Result<Gpu, String> {
    Gpu::with_l1d(machine, options, |design, site| Ok(wrap(site, design.build(site)?)))
}

/// A GTX 480 with values replaced.
pub fn gtx480(sets: &[&str]) -> Machine {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load("gtx480", &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// A system that gives SMs, network, L2 and DRAM a clock each, for any machine.
pub const FOUR_CLOCKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machine/four_clocks.toml");

/// A system that gives any machine `mov.indirect`.
pub const INDIRECT_MOV: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machine/indirect_mov.toml");

/// A GTX 480 with four clocks and with values replaced.
pub fn four_clocks(sets: &[&str]) -> Machine {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load_with("gtx480", &[FOUR_CLOCKS], &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// A PTX text around the directives of a module.
pub fn module(text: &str) -> String {
    format!(".version 7.0\n.target sm_70\n.address_size 64\n{text}")
}

/// The words that a kernel leaves, or why there are none.
pub type Words = Result<Vec<u32>, DeviceError>;

/// Launches kernel `k` with a pointer to 1,024 bytes.
pub fn launch(device: &mut dyn Device, ctas: u32, threads: u32) -> Words {
    let out = device.alloc("out", 1024)?;
    device.launch("k", Shape::new([ctas, 1, 1], [threads, 1, 1]), &[Arg::Ptr(out)])?;
    let mut bytes = vec![0; 1024];
    device.download(out, &mut bytes)?;
    Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect())
}

/// Lets `host` use a modelled GPU that has loaded `text`.
pub fn on_device<R>(
    machine: &Machine,
    options: GpuOptions,
    text: &str,
    host: impl FnOnce(&mut TimedDevice<'_>) -> R,
) -> R {
    let mut progress = |_: &strata_gpu::Progress| {};
    let module = Module { name: "test.ptx", text };
    let mut device =
        TimedDevice::new(machine, module, options, &mut progress).unwrap_or_else(|error| panic!("{error}"));
    host(&mut device)
}

/// How a program is run.
#[derive(Clone, Copy, Debug)]
pub struct How {
    pub threads: usize,
    pub window: Option<u64>,
    pub check: bool,
    pub max_cycles: Option<u64>,
    pub sample_cycles: Option<u64>,
}

impl How {
    pub const PLAIN: How =
        How { threads: 1, window: None, check: false, max_cycles: None, sample_cycles: None };
    pub const CHECKED: How = How { check: true, ..How::PLAIN };
}

/// Runs a program on a machine.
pub fn run_on(machine: &Machine, program: &dyn HostProgram, how: How) -> Result<RunResult, RunError> {
    run_watched(machine, program, how, &mut |_| {})
}

/// Runs a program on a machine and watches its progress.
pub fn run_watched(
    machine: &Machine,
    program: &dyn HostProgram,
    how: How,
    progress: &mut dyn FnMut(&strata_gpu::Progress),
) -> Result<RunResult, RunError> {
    let How { threads, window, check, max_cycles, sample_cycles } = how;
    run(RunRequest {
        threads,
        window,
        check,
        max_cycles,
        sample_cycles,
        ..RunRequest::plain(program, machine, progress, &mut |_| ())
    })
}

/// Runs a program that must end well and with the right results.
pub fn verified(machine: &Machine, program: &dyn HostProgram, how: How, what: &str) -> RunResult {
    let name = program.name();
    let result = run_on(machine, program, how).unwrap_or_else(|error| panic!("{name}, {what}: {error}"));
    assert_eq!(result.verdict, Verdict::Verified, "{name}, {what}");
    result
}

/// Launches and counters of a program on a machine that skips no cycle.
pub fn ticked(machine: &Machine, program: &dyn HostProgram) -> (Vec<LaunchResult>, Vec<Group>) {
    let mut progress = |_: &strata_gpu::Progress| {};
    let mut gpu = Gpu::new(machine, PLAIN).unwrap_or_else(|error| panic!("{error}"));
    gpu.tick_every_cycle();
    let mut device = TimedDevice::on(gpu, machine, program.module(), &mut progress)
        .unwrap_or_else(|error| panic!("{error}"));
    program.run(&mut device).unwrap_or_else(|error| panic!("{}: {error}", program.name()));
    (device.launches().to_vec(), device.statistics())
}

/// A counter of a device by group and name.
pub fn counter(device: &mut TimedDevice<'_>, group: &str, name: &str) -> u64 {
    let groups = device.statistics();
    let found = groups.iter().find(|candidate| candidate.name == group).and_then(|group| group.get(name));
    found.unwrap_or_else(|| panic!("no statistic {group}.{name}"))
}
