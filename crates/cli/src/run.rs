//! `strata run`: one workload or launch file on one machine.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use strata_gpu::machine::Machine;
use strata_gpu::region::Region;
use strata_gpu::results::Provenance;
use strata_gpu::{RunError, RunRequest, run as run_on_gpu};
use strata_lab::diff::Repeat;
use strata_lab::program;
use strata_lab::variant::Variant;
use strata_workloads::launch_file;
use strata_workloads::{HostProgram, Size};

use crate::breakdown::BreakdownArguments;
use crate::choice::MachineChoice;
use crate::critical_path::{self, PathArguments};
use crate::dump::{BufferArguments, Dump};
use crate::files::Files;
use crate::new::ptx_alone;
use crate::page::{self, Page};
use crate::progress::Bar;
use crate::report::{self, Report};
use crate::timeline::Timeline;
use crate::trace::{self, TraceArguments};
use crate::{Finished, interrupt, print, races, workload};

/// Arguments of `strata run`.
#[derive(Args)]
#[command(group(ArgGroup::new("over_time").args(["timeline", "out"]).multiple(true)))]
pub struct RunArguments {
    /// Program to run: a workload's name (see `strata list`) or a launch file (`*.toml`).
    program: String,
    #[command(flatten)]
    machine: MachineChoice,
    /// Size of the workload: test, small or paper; suite, stash or morpheus where it has them.
    #[arg(long, default_value = "test")]
    size: String,
    /// Version of the workload, as in its other name `NAME@VERSION`: where its kernels keep their data. Default: the
    /// original's.
    #[arg(long, value_name = "NAME")]
    version: Option<String>,
    /// Override a value of the machine file, as in `l1d.ways=8`. May be repeated.
    #[arg(long = "set", value_name = "DOOR.KEY=VALUE")]
    overrides: Vec<String>,
    /// Most worker threads; fewer run while more would not be faster. Does not affect results.
    /// Default: all cores.
    #[arg(long)]
    threads: Option<usize>,
    /// Run on one thread, measure what each part of the machine costs the host, and compute how much faster more
    /// threads would be.
    #[arg(long, conflicts_with = "threads")]
    schedule: bool,
    /// Cycles that islands simulate between exchanges; does not affect results. At most, and by default, the
    /// smallest link latency.
    #[arg(long)]
    window: Option<u64>,
    /// Also run the reference executor, and compare all of memory after every launch.
    #[arg(long)]
    check: bool,
    /// Find data races instead: run on the reference executor only, without timing.
    #[arg(long, conflicts_with_all = [
        "threads", "window", "check", "from_launch", "to_launch", "kernel", "warm", "max_cycles", "timeline", "out", "shown", "dumped", "by", "trace", "critical_path",
    ])]
    races: bool,
    /// Measure only from this launch on, counted from 0. Earlier ones run on the reference executor, in no time.
    #[arg(long, value_name = "N")]
    from_launch: Option<u64>,
    /// Simulate the launches before the first one measured, too, so that it finds the caches as they leave them.
    #[arg(long, requires = "from_launch")]
    warm: bool,
    /// Measure only up to this launch, and end the run after it.
    #[arg(long, value_name = "N")]
    to_launch: Option<u64>,
    /// Measure only launches of this kernel.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Stop after this many core cycles.
    #[arg(long, value_name = "CYCLES")]
    max_cycles: Option<u64>,
    /// Write all results as JSON to this file, or to standard output with `-`, in place of the summary.
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    #[command(flatten)]
    breakdown: BreakdownArguments,
    #[command(flatten)]
    trace: TraceArguments,
    #[command(flatten)]
    critical_path: PathArguments,
    #[command(flatten)]
    buffers: BufferArguments,
    /// Write counters and energy over time to this CSV file, one line per span.
    #[arg(long, value_name = "FILE.csv")]
    timeline: Option<PathBuf>,
    /// Write an HTML page to this file: where the cycles went, over time, by level of the memory hierarchy, by part of the machine
    /// and by line of the kernels.
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Length of a span of the timeline or the page, in cycles. Default: 10000, or 1000 with a page alone.
    #[arg(long, value_name = "CYCLES", requires = "over_time")]
    span: Option<u64>,
}

impl RunArguments {
    /// The run that is asked for, without what is written of it.
    ///
    /// # Errors
    /// A program or machine that cannot be loaded.
    pub fn repeat(&self) -> Result<Repeat, String> {
        let machine = self.machine.load(&self.overrides)?;
        let Program { name, size, .. } = program(self, &machine)?;
        let size = size.as_deref().map_or(Ok(Size::Test), str::parse);
        let system = machine.system_name();
        let about = Variant {
            name: system.clone().unwrap_or_else(|| machine.name().to_owned()),
            base: self.machine.machine.clone(),
            system,
            sets: vec![],
            version: None,
        };
        Ok(Repeat {
            program: name,
            size: size.map_err(|error| format!("--size: {error}"))?,
            values: machine.table().clone().into(),
            about: about.with(&self.overrides),
            region: self.region(),
            max_cycles: self.max_cycles,
        })
    }

    /// The first option that asks for more than numbers.
    #[must_use]
    pub fn asks_for_more(&self) -> Option<&'static str> {
        [
            ("--races", self.races),
            ("--check", self.check),
            ("--schedule", self.schedule),
            ("--json", self.json.is_some()),
            ("--timeline", self.timeline.is_some()),
            ("--out", self.out.is_some()),
            ("--trace", self.trace.path().is_some()),
            ("--critical-path", self.critical_path.options().is_some()),
            ("--by or --annotate", !self.breakdown.by().is_empty()),
            ("--show or --dump", !self.buffers.is_empty()),
        ]
        .into_iter()
        .find_map(|(option, asked)| asked.then_some(option))
    }

    fn region(&self) -> Region {
        Region { from: self.from_launch, to: self.to_launch, kernel: self.kernel.clone(), warm: self.warm }
    }
}

/// Runs the program and prints or writes its results.
///
/// # Errors
/// A program or machine that cannot be loaded, or a run that does not finish.
pub fn run(arguments: &RunArguments) -> Result<Finished, String> {
    let machine = arguments.machine.load(&arguments.overrides)?;
    let Program { name, program, size, dumps } = program(arguments, &machine)?;
    if arguments.races {
        return races::find(program.as_ref(), size.as_deref(), &machine, arguments.json.as_deref());
    }
    arguments.breakdown.check(&machine)?;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = arguments.threads.unwrap_or(cores);
    if threads == 0 {
        return Err("--threads 0: expected at least 1".into());
    }
    let sample_cycles = sample_cycles(arguments)?;
    // From here on an interrupt leaves results.
    let interrupt = interrupt::flag();
    let mut json = match arguments.json.as_deref() {
        None | Some("-") => None,
        Some(path) => Some(Report::new(Path::new(path))?),
    };
    let mut timeline = arguments.timeline.as_deref().map(Timeline::new).transpose()?;
    let mut page = arguments.out.as_deref().map(Page::new).transpose()?;
    let asked = arguments.breakdown.by();
    let (traced, trace_file) = arguments.trace.prepare(&machine)?.unzip();
    let mut trace = None;
    let mut take_trace = |bytes| trace = Some(bytes);
    let provenance = provenance(&name, &size)?;
    let mut bar = Bar::new(program.name());
    let mut show = |progress: &strata_gpu::Progress| {
        for warning in &progress.warnings {
            bar.warn(warning);
        }
        if !progress.warnings.is_empty() {
            return;
        }
        bar.show(progress);
        timeline.iter_mut().for_each(|timeline| timeline.add(progress));
        page.iter_mut().for_each(|page| page.add(progress));
    };
    let outcome = run_on_gpu(RunRequest {
        program: program.as_ref(),
        size,
        machine: &machine,
        overrides: &arguments.overrides,
        threads,
        saves_threads: true,
        schedule: arguments.schedule,
        window: arguments.window,
        check: arguments.check,
        max_cycles: arguments.max_cycles,
        interrupt: Some(interrupt),
        region: arguments.region(),
        provenance,
        sample_cycles,
        by: &page::with_those_of_a_page(asked.clone(), arguments.out.is_some()),
        watch: None,
        trace: traced.map(|traced| (traced, &mut take_trace as &mut dyn FnMut(_))),
        critical_path: arguments.critical_path.options(),
        progress: &mut show,
        so_far: &mut |result| {
            let mut result = || {
                let mut result = result();
                page::keep(&mut result, &asked);
                result
            };
            json.iter_mut().for_each(|json| json.so_far(&mut result));
        },
    });
    bar.finish();
    let (mut result, stopped) = match outcome {
        Ok(result) => (result, None),
        Err(RunError::Stopped(result, error)) => (*result, Some(error.to_string())),
        Err(error) => {
            let reason = error.to_string();
            let written = json.as_mut().map_or(Ok(()), |json| json.stop(&reason));
            return all([Err(reason), written]).map(|()| Finished::Well);
        }
    };
    let did_nothing = stopped.is_some() && result.launches.is_empty() && result.phases.is_empty();
    let launch_file = Some(Path::new(&arguments.program)).filter(|_| result.size.is_none());
    let page =
        page.map_or(Ok(()), |mut page| page.end(&result, &machine, launch_file, program.module().text));
    page::keep(&mut result, &asked);
    let shown = match &json {
        None if arguments.json.is_some() => print(&report::text(&result.to_json())),
        _ if did_nothing => Ok(()),
        _ => {
            let ptx = program.module().text;
            let paths =
                result.critical_paths.as_ref().map_or(String::new(), |paths| critical_path::text(paths, ptx));
            print(&(result.summary() + &arguments.breakdown.text(&result, ptx) + &paths))
        }
    };
    let written = json.as_mut().map_or(Ok(()), |json| json.end(&result));
    let timeline = timeline.map_or(Ok(()), Timeline::end);
    let traced = trace_file.map_or(Ok(()), |file| trace::write(file, trace.flatten()));
    let is_whole = stopped.is_none();
    let has_paths = if is_whole { arguments.critical_path.check(&result) } else { Ok(()) };
    let dumps = dumps.into_iter().map(|dump| dump.write(&result.outputs, is_whole));
    all([stopped.map_or(Ok(()), Err), shown, written, timeline, page, traced, has_paths]
        .into_iter()
        .chain(dumps))?;
    for problem in result.verdict.problems() {
        eprintln!("wrong: {problem}");
    }
    if arguments.check && !result.verdict.problems().is_empty() {
        eprintln!(
            "hint: data races are one cause; the same command with --races in place of --check finds them"
        );
    }
    Ok(if result.verdict.problems().is_empty() { Finished::Well } else { Finished::Wrong })
}

/// Length of the spans that counters are sampled in, if they are.
fn sample_cycles(arguments: &RunArguments) -> Result<Option<u64>, String> {
    let default = match (&arguments.timeline, &arguments.out) {
        (None, None) => return Ok(None),
        (Some(_), _) => 10_000,
        // Neighbours are put together as the run gets long.
        (None, Some(_)) => 1000,
    };
    match arguments.span.unwrap_or(default) {
        0 => Err("--span 0: expected at least 1".into()),
        span => Ok(Some(span)),
    }
}

/// The files that the command reads and writes.
fn files(arguments: &RunArguments, machine: &Machine) -> Files {
    let program = Path::new(&arguments.program);
    let files = Files::new().reads_machine(machine).reads("the launch file", program);
    let files = files.writes("--json", arguments.json.as_deref().map(Path::new));
    let files = files.writes("--timeline", arguments.timeline.as_deref());
    let files = files.writes("--out", arguments.out.as_deref());
    let files = files.writes("--trace", arguments.trace.path());
    let dumped = arguments.buffers.dumped();
    dumped
        .fold(files, |files, (name, path)| files.writes_as(format!("--dump {name}={}", path.display()), path))
}

/// What runs, and where its buffers go.
struct Program {
    /// As `strata_lab` finds it.
    name: String,
    program: Box<dyn HostProgram>,
    size: Option<String>,
    dumps: Vec<Dump>,
}

fn program(arguments: &RunArguments, machine: &Machine) -> Result<Program, String> {
    let RunArguments { program: name, buffers, .. } = arguments;
    let path = Path::new(name);
    if path.extension().is_some_and(|extension| extension == "toml") {
        if let Some(version) = &arguments.version {
            return Err(format!("--version {version}: expected a workload, found a launch file"));
        }
        let mut file = launch_file::read(path).map_err(|error| error.to_string())?;
        files(arguments, machine).reads_launch_file(&file).check()?;
        let dumps = buffers.prepare(&mut file)?;
        return Ok(Program { name: name.clone(), program: Box::new(file), size: None, dumps });
    }
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ptx")) {
        return Err(ptx_alone::refusal(path, arguments.kernel.as_deref())?);
    }
    let workload =
        workload::named(name).map_err(|error| format!("{error}; a launch file's name ends in .toml"))?;
    let workload = match &arguments.version {
        None => workload,
        Some(version) => workload.in_version(version).map_err(|error| format!("--version: {error}"))?,
    };
    if !buffers.is_empty() {
        return Err(format!(
            "--show and --dump are for launch files; `strata workload export {name} FOLDER` writes one"
        ));
    }
    files(arguments, machine).check()?;
    let size = workload::size(&arguments.size)?;
    let program = workload.program(size).map_err(|error| error.to_string())?;
    Ok(Program { name: workload.name.into(), program, size: Some(size.name().to_owned()), dumps: vec![] })
}

/// Everything that went wrong, a line each: what cannot be written keeps nothing else from being written.
fn all(results: impl IntoIterator<Item = Result<(), String>>) -> Result<(), String> {
    let errors: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// Simulator, command line, and hashes of the program.
fn provenance(name: &str, size: &Option<String>) -> Result<Provenance, String> {
    let size =
        size.as_deref().map_or(Ok(Size::Test), str::parse).map_err(|error| format!("--size: {error}"))?;
    // A program that launches nothing has no inputs to hash.
    let identity = program::Program::find(name)?.identity(size).unwrap_or_default();
    Ok(Provenance {
        simulator: strata_lab::SIMULATOR.into(),
        command: std::env::args().collect(),
        ptx: identity.ptx,
        inputs: identity.inputs,
        ..Provenance::default()
    })
}
