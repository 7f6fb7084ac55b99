//! Runs a host program on a machine, checks its results and measures it.

use std::fmt;

use strata_engine::Cycle;
use strata_ptx::reference;
use strata_workloads::recording::Recording;
use strata_workloads::{DeviceError, HostProgram, Outcome};

use crate::device::{Lockstep, ReferenceDevice, TimedDevice};
use crate::endurance;
use crate::gpu::GpuOptions;
use crate::machine::Machine;
use crate::profile::Profile;
use crate::progress::Progress;
use crate::results::{RunResult, SimulationCost, Verdict, peak_memory_bytes};

/// What to run, on which machine, and how.
pub struct RunRequest<'a> {
    /// The program to run.
    pub program: &'a dyn HostProgram,
    /// Size of the workload, for the report.
    pub size: Option<String>,
    /// The machine to run on.
    pub machine: &'a Machine,
    /// The `--set` overrides that made the machine, for the report.
    pub overrides: &'a [String],
    /// Number of worker threads, at least 1.
    pub threads: usize,
    /// Whether fewer threads run while more would not be faster.
    pub saves_threads: bool,
    /// Length of a window in cycles; by default, the machine's longest.
    pub window: Option<u64>,
    /// Also run the reference executor, and compare all of memory after every launch.
    pub check: bool,
    /// Core cycles after which the run is given up.
    pub max_cycles: Option<u64>,
    /// Sample the counters at this interval, in cycles of each launch.
    pub sample_cycles: Option<u64>,
    /// Called from time to time with the progress of the run.
    pub progress: &'a mut dyn FnMut(&Progress),
}

/// Why a run did not finish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The machine, the module or an option is wrong.
    Refused(String),
    /// A device call failed because of an error in the program.
    Device(DeviceError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Refused(reason) => f.write_str(reason),
            RunError::Device(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

/// Runs a program to completion.
///
/// # Errors
/// If the program does not complete. Wrong results are reported in [`RunResult::verdict`] instead.
pub fn run(request: RunRequest<'_>) -> Result<RunResult, RunError> {
    let RunRequest { program, size, machine, overrides, threads, window, check, .. } = request;
    let RunRequest { saves_threads, max_cycles, sample_cycles, progress, .. } = request;
    let limit = max_cycles.map_or(Cycle::NEVER, Cycle);
    let options = GpuOptions { threads, saves_threads, window, limit };
    let mut timed =
        TimedDevice::new(machine, program.module(), options, progress).map_err(RunError::Refused)?;
    if let Some(cycles) = sample_cycles {
        timed.sample_every(cycles);
    }
    let (outcome, differences) = if check {
        let memory = *machine.file().gpu.memory_mib << 20;
        let mut reference = ReferenceDevice::new(
            program.module(),
            machine.compile_options(),
            memory,
            reference::Options::default(),
        )
        .map_err(RunError::Refused)?;
        let mut lockstep = Lockstep::new(&mut timed, &mut reference);
        let outcome = program.run(&mut lockstep).map_err(RunError::Device)?;
        (outcome, lockstep.into_differences())
    } else {
        (program.run(&mut timed).map_err(RunError::Device)?, Vec::new())
    };
    let statistics = timed.statistics();
    let laws = statistics.iter().filter_map(|group| {
        Some(format!("the statistics of `{}` break their law \"{}\"", group.name, group.broken?))
    });
    let problems: Vec<String> =
        wrong(&outcome).into_iter().chain(differences).chain(laws.collect::<Vec<_>>()).collect();
    let verdict = if !problems.is_empty() {
        Verdict::Wrong(problems)
    } else if outcome.comparisons.is_empty() && !check {
        Verdict::Unchecked
    } else {
        Verdict::Verified
    };
    let cycles = timed.launches().iter().map(|launch| launch.cycles).sum();
    let lifetimes = endurance::lifetimes(machine, &statistics, cycles).map_err(RunError::Refused)?;
    Ok(RunResult {
        workload: program.name().to_owned(),
        size,
        machine: machine.name().to_owned(),
        system: machine.system_name(),
        facts: machine.facts(),
        overrides: overrides.to_vec(),
        verdict,
        comparisons: outcome.comparisons,
        outputs: outcome.outputs,
        launches: timed.launches().to_vec(),
        cost: SimulationCost {
            seconds: timed.seconds(),
            threads,
            window: timed.window(),
            peak_memory_bytes: peak_memory_bytes(),
        },
        energy: timed.energy(),
        lifetimes,
        statistics,
    })
}

/// Runs a program on the reference executor, compiled as for `machine`, and profiles it.
///
/// # Errors
/// If the module is wrong or a device call fails. Wrong results are reported in the outcome instead.
pub fn profile_program(
    program: &dyn HostProgram,
    machine: &Machine,
) -> Result<(Profile, Outcome), DeviceError> {
    let refused = |reason| DeviceError::BadLaunch { kernel: program.name().to_owned(), reason };
    let mut device = ReferenceDevice::for_program(program, machine).map_err(refused)?;
    device.watch();
    let mut recording = Recording::inputs_only(&mut device);
    let outcome = program.run(&mut recording)?;
    let (footprint_bytes, inputs_hash) = (recording.footprint_bytes(), recording.inputs_hash());
    let profile = device.into_profile().expect("the device is watched");
    Ok((Profile { footprint_bytes, inputs_hash, ..profile }, outcome))
}

fn wrong(outcome: &Outcome) -> Vec<String> {
    outcome.comparisons.iter().filter(|comparison| !comparison.passed()).map(ToString::to_string).collect()
}
