//! Runs a host program on a machine, checks its results and measures it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_ptx::reference;
use strata_workloads::recording::Recording;
use strata_workloads::{DeviceError, HostProgram, Outcome};

use crate::broken_down::each_once;
use crate::checkpoint::{Checkpoint, Identity};
use crate::critical_path::{PathFinder, PathOptions};
use crate::device::{Lockstep, Modelled, ReferenceDevice, TimedDevice};
use crate::endurance;
use crate::gpu::{Gpu, GpuOptions, Makers, Watch};
use crate::machine::Machine;
use crate::profile::Profile;
use crate::progress::Progress;
use crate::races::Races;
use crate::region::Region;
use crate::results::{
    By, Checked, LaunchResult, PhaseResult, Provenance, RunResult, SimulationCost, Verdict, peak_memory_bytes,
};
use crate::save::{from_checkpoint, not_reached};
use crate::trace::{TraceOptions, Tracer};

/// What is traced, and what takes the file.
pub type Tracing<'a> = (TraceOptions, &'a mut dyn FnMut(Option<Vec<u8>>));

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
    /// Measure what each island costs the host, on one thread, and compute what more threads would gain.
    pub schedule: bool,
    /// Length of a window in cycles; by default, the machine's longest.
    pub window: Option<u64>,
    /// Also run the reference executor, and compare all of memory after every launch.
    pub check: bool,
    /// Core cycles after which the run is given up.
    pub max_cycles: Option<u64>,
    /// Set from outside to stop the run.
    pub interrupt: Option<&'static AtomicBool>,
    /// The launches that are measured.
    pub region: Region,
    /// A checkpoint of the program to begin with.
    pub start: Option<Arc<Checkpoint>>,
    /// Where the results come from, as far as the caller knows; the machine's part is filled in.
    pub provenance: Provenance,
    /// Sample the counters at this interval, in cycles of each launch.
    pub sample_cycles: Option<u64>,
    /// What counters are broken down by.
    pub by: &'a [By],
    /// Who looks at the machine's parts meanwhile.
    pub watch: Option<Watch>,
    /// What is traced, if anything, and what is called with the trace at the end; with `None` if no launch was in its window.
    pub trace: Option<Tracing<'a>>,
    /// Which launches the critical path is found of, if any. It cannot be had with a trace.
    pub critical_path: Option<PathOptions>,
    /// Called from time to time with the progress of the run, and for every span.
    pub progress: &'a mut dyn FnMut(&Progress),
    /// Called before the first launch and after each one, with what makes the results until then.
    pub so_far: &'a mut dyn FnMut(&mut dyn FnMut() -> RunResult),
}

impl<'a> RunRequest<'a> {
    /// A request that asks for nothing but the numbers: a whole run on one thread, without the reference
    /// executor.
    pub fn plain(
        program: &'a dyn HostProgram,
        machine: &'a Machine,
        progress: &'a mut dyn FnMut(&Progress),
        so_far: &'a mut dyn FnMut(&mut dyn FnMut() -> RunResult),
    ) -> Self {
        RunRequest {
            program,
            size: None,
            machine,
            overrides: &[],
            threads: 1,
            saves_threads: false,
            schedule: false,
            window: None,
            check: false,
            max_cycles: None,
            interrupt: None,
            region: Region::default(),
            start: None,
            provenance: Provenance::default(),
            sample_cycles: None,
            by: &[],
            watch: None,
            trace: None,
            critical_path: None,
            progress,
            so_far,
        }
    }
}

/// Why a run did not finish.
#[derive(Clone, Debug, PartialEq)]
pub enum RunError {
    /// The machine, the module or an option is wrong.
    Refused(String),
    /// A device call failed: what was measured until then, perhaps nothing, and why.
    Stopped(Box<RunResult>, DeviceError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Refused(reason) => f.write_str(reason),
            RunError::Stopped(_, error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

/// Runs a program to completion.
///
/// # Errors
/// If the program does not complete; [`RunError::Stopped`] has what was measured until then. Wrong results are reported
/// in [`RunResult::verdict`] instead.
pub fn run(request: RunRequest<'_>) -> Result<RunResult, RunError> {
    let RunRequest { program, machine, window, check, saves_threads, max_cycles, sample_cycles, .. } =
        request;
    let RunRequest { progress, so_far, interrupt, watch, .. } = request;
    let of = Identity {
        program: program.name().to_owned(),
        size: request.size.clone(),
        ptx: request.provenance.ptx.clone(),
        inputs: request.provenance.inputs.clone(),
    };
    let region = from_checkpoint(request.region, request.start.as_deref(), &of).map_err(RunError::Refused)?;
    let looks = sample_cycles.is_some()
        || request.trace.is_some()
        || watch.is_some()
        || request.critical_path.is_some();
    if looks && (region.warm_ctas > 0 || (region.warm && region.from_cta.is_some())) {
        let reason = "CTAs that warm caches would be seen over time, too: expected no --warm-ctas and no --warm with --from-cta";
        return Err(RunError::Refused(reason.into()));
    }
    let about = About {
        program,
        size: request.size,
        machine,
        overrides: request.overrides,
        threads: if request.schedule { 1 } else { request.threads },
        provenance: request.provenance,
    };
    let limit = max_cycles.map_or(Cycle::NEVER, Cycle);
    let options = GpuOptions { threads: about.threads, saves_threads, window, limit, interrupt };
    let mut under_way = |launches: &[LaunchResult], phases: &[PhaseResult], gpu: &mut Modelled| {
        so_far(&mut || about.result(launches.iter().cloned(), phases, gpu));
    };
    let by = each_once(request.by);
    let (traced, mut take_trace) = request.trace.unzip();
    let tracer = traced.map(|traced| Tracer::new(machine, traced, program.module().text));
    let tracer = tracer.transpose().map_err(|error| RunError::Refused(format!("trace: {error}")))?;
    let finder = request.critical_path.map(|options| PathFinder::new(machine, options)).transpose();
    let finder = finder.map_err(|error| RunError::Refused(format!("critical path: {error}")))?;
    let makers = match (&tracer, &finder) {
        (Some(_), Some(_)) => {
            let reason = "a trace and critical paths of one run: expected one of them";
            return Err(RunError::Refused(reason.into()));
        }
        (Some(tracer), None) => tracer.makers(Vec::new()),
        (None, Some(finder)) => finder.makers(Vec::new()),
        (None, None) => Makers::default(),
    };
    let (makers, queues) = makers.breaking_down(machine, &by).map_err(RunError::Refused)?;
    let mut timed = Gpu::with(machine, options, makers)
        .and_then(|gpu| TimedDevice::on(gpu, machine, program.module(), progress))
        .map_err(RunError::Refused)?;
    timed.report_to(&mut under_way);
    if let Some(cycles) = sample_cycles {
        timed.sample_every(cycles);
    }
    if let Some(watch) = watch {
        timed.gpu().watch(watch);
    }
    if request.schedule {
        timed.gpu().measure_schedule();
    }
    region.check(timed.kernel_names(), program.plan().as_ref()).map_err(RunError::Refused)?;
    timed.measure_only(region.clone(), request.start);
    timed.gpu().break_down(&by);
    if let Some(queues) = queues {
        timed.gpu().watch_queues(queues);
    }
    if let Some(tracer) = tracer {
        timed.gpu().trace(tracer);
    }
    if let Some(finder) = finder {
        timed.gpu().find_paths(finder);
    }
    let mut left = Vec::new();
    let (outcome, checked, differences) = if check {
        let memory = *machine.file().gpu.memory_mib << 20;
        let mut reference = ReferenceDevice::new(
            program.module(),
            machine.compile_options(),
            memory,
            reference::Options { interrupt, ..reference::Options::default() },
        )
        .map_err(RunError::Refused)?;
        let mut lockstep = Lockstep::new(&mut timed, &mut reference);
        let outcome = program.run_and_leave(&mut lockstep, &mut left);
        let (checked, differences) = lockstep.finish();
        (outcome, Some(checked), differences)
    } else {
        (program.run_and_leave(&mut timed, &mut left), None, Vec::new())
    };
    let (outcome, ended) = match outcome {
        Ok(outcome) => (outcome, Ended::Whole),
        Err(error) => {
            let ended = match error {
                DeviceError::Enough { .. } => Ended::WithItsRegion,
                error => Ended::Failed(error),
            };
            (Outcome { outputs: left, ..Outcome::default() }, ended)
        }
    };
    if let (Some(take), Some(tracer)) = (&mut take_trace, timed.gpu().take_trace()) {
        take(tracer.into_bytes());
    }
    let stopped = timed.stopped().cloned();
    let launches = timed.launches().to_vec();
    let phases: Vec<PhaseResult> = timed.phases().iter().chain(timed.stopped_phase()).cloned().collect();
    let count = launches.len();
    let result = about.result(launches.into_iter().chain(stopped), &phases, timed.gpu());
    let is_nothing = result.launches.is_empty() && !region.is_everything();
    if is_nothing && matches!(ended, Ended::Whole | Ended::WithItsRegion) {
        if let Some(reason) = timed.gpu().missed() {
            return Err(RunError::Refused(reason));
        }
        if let Some(executed) = timed.gpu().before_region() {
            return Err(RunError::Refused(not_reached(&region, executed)));
        }
        let reason = format!("none of the first {count} launches is in the region, expected at least one");
        return Err(RunError::Refused(reason));
    }
    let broken = || broken_laws(&result.statistics, machine.file().polls());
    let mut problems: Vec<String> = match &ended {
        Ended::Whole => wrong(&outcome).into_iter().chain(differences).chain(broken()).collect(),
        Ended::WithItsRegion => differences.into_iter().chain(broken()).collect(),
        // Laws hold for launches that ended.
        Ended::Failed(_) => differences,
    };
    if !problems.is_empty() {
        problems.extend(timed.undefined());
    }
    let Outcome { comparisons, outputs, .. } = outcome;
    let verdict = match &ended {
        Ended::Failed(error) => Verdict::NotFinished { reason: error.to_string(), problems },
        Ended::WithItsRegion if problems.is_empty() => Verdict::Cut,
        Ended::Whole | Ended::WithItsRegion => {
            Verdict::of_ended(problems, checked.is_some_and(Checked::any) || !comparisons.is_empty())
        }
    };
    let result = RunResult { verdict, checked, comparisons, outputs, ..result };
    match ended {
        Ended::Failed(error) => Err(RunError::Stopped(Box::new(result), error)),
        Ended::Whole | Ended::WithItsRegion => Ok(result),
    }
}

/// How the host side of a run ended.
enum Ended {
    /// At its own end.
    Whole,
    /// After the last launch of the region that is measured.
    WithItsRegion,
    /// By a call that failed.
    Failed(DeviceError),
}

/// Why a run that goes on has not finished.
const UNDER_WAY: &str = "under way";

/// What all results of a run have in common.
struct About<'a> {
    program: &'a dyn HostProgram,
    size: Option<String>,
    machine: &'a Machine,
    overrides: &'a [String],
    threads: usize,
    provenance: Provenance,
}

impl About<'_> {
    /// The results of a GPU's launches and host phases, of which nothing is compared yet.
    fn result(
        &self,
        launches: impl Iterator<Item = LaunchResult>,
        phases: &[PhaseResult],
        gpu: &mut Modelled,
    ) -> RunResult {
        let machine = self.machine;
        let region = gpu.region().clone();
        let launches: Vec<LaunchResult> = launches.collect();
        let before = launches.len().min(region.begin().map_or(usize::MAX, |begin| begin.launch as usize));
        let simulated = || launches.iter().filter(|launch| !launch.functional);
        let cost = SimulationCost {
            seconds: gpu.seconds(),
            warp_instructions: simulated().map(|launch| launch.warp_instructions).sum(),
            cycles: simulated()
                .map(|launch| launch.cycles)
                .chain(phases.iter().map(|phase| phase.cycles))
                .sum(),
            fast_forwarded: launches[..before].iter().filter(|launch| launch.functional).count() as u64,
            threads: self.threads,
            window: gpu.window(),
            peak_memory_bytes: peak_memory_bytes(),
            schedule: gpu.schedule(),
        };
        let numbered = (0..).zip(launches);
        let measured = numbered.filter(|(number, launch)| region.has(*number, &launch.kernel));
        let launches: Vec<LaunchResult> = measured.map(|(_, launch)| launch).collect();
        let statistics = gpu.statistics();
        let is_measured = |phase: &&PhaseResult| region.has_phase(phase.after_launches, &phase.kernel);
        let phases: Vec<PhaseResult> = phases.iter().filter(is_measured).cloned().collect();
        let cycles = launches.iter().map(|launch| launch.cycles).sum::<u64>()
            + phases.iter().map(|phase| phase.cycles).sum::<u64>();
        let energy = gpu.energy();
        let breakdowns = gpu.breakdowns().iter().cloned();
        let breakdowns = breakdowns.map(|breakdown| breakdown.with_energy(energy.as_ref())).collect();
        RunResult {
            provenance: Provenance {
                machine_file: machine.path().map(str::to_owned),
                machine: machine.hash(),
                ..self.provenance.clone()
            },
            began: gpu.began(),
            ended: gpu.ended(),
            region,
            workload: self.program.name().to_owned(),
            size: self.size.clone(),
            machine: machine.name().to_owned(),
            system: machine.system_name(),
            facts: machine.facts(),
            overrides: self.overrides.to_vec(),
            verdict: Verdict::not_finished(UNDER_WAY),
            checked: None,
            comparisons: Vec::new(),
            launches,
            phases,
            outputs: Vec::new(),
            cost,
            energy,
            // The GPU was not built if they could not be told.
            lifetimes: endurance::lifetimes(machine, &statistics, cycles).unwrap_or_default(),
            statistics,
            breakdowns,
            critical_paths: gpu.paths().cloned(),
        }
    }
}

/// Laws that statistics break. Where SMs poll, networks always have packets under way, and their laws say nothing.
fn broken_laws(statistics: &[Group], polls: bool) -> Vec<String> {
    let law = |group: &Group| {
        Some(format!("the statistics of `{}` break their law \"{}\"", group.name, group.broken?))
    };
    let bound = |group: &&Group| !(polls && group.name.starts_with("network."));
    statistics.iter().filter(bound).filter_map(law).collect()
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

/// What became of a program whose races were looked for.
#[derive(Clone, Debug)]
pub struct Raced {
    /// The races; those until the run was stopped, if it was.
    pub races: Races,
    /// What the program computed, or why it was stopped.
    pub outcome: Result<Outcome, DeviceError>,
    /// What is dubious about the kernels that were launched, a sentence each with its place.
    pub warnings: Vec<String>,
}

/// Runs a program on the reference executor, compiled as for `machine`, and finds its data races.
///
/// # Errors
/// If the module is wrong.
pub fn find_races(program: &dyn HostProgram, machine: &Machine) -> Result<Raced, String> {
    let mut device = ReferenceDevice::for_program(program, machine)?;
    device.watch_races();
    let outcome = program.run(&mut device);
    let warnings = device.warnings().to_vec();
    let races = device.into_races().expect("they are looked for");
    Ok(Raced { races, outcome, warnings })
}

fn wrong(outcome: &Outcome) -> Vec<String> {
    outcome.comparisons.iter().filter(|comparison| !comparison.passed()).map(ToString::to_string).collect()
}
