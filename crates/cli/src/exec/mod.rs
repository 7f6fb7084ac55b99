//! `strata exec`: runs an unmodified CUDA program with the modelled GPU's driver and runtime in place of the
//! vendor's.

mod bounds;
mod capability;
mod found;
mod front;
pub mod libraries;
mod part;
mod processes;
mod progress;
mod report;
mod store;
pub mod tools;
mod tree;
mod watch;

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use strata_gpu::machine::Machine;
use strata_gpu::results::By;
use strata_lab::store::check_writable;

use self::bounds::Bounds;
use self::capability::Capability;
use self::front::Front;
use self::part::{Part, Parts};
use self::processes::{Process, summary};
use self::report::Report;
use self::watch::Ended;
use crate::Finished;
use crate::choice::MachineChoice;
use crate::files::Files;

/// Arguments of `strata exec`.
#[derive(Args)]
pub struct ExecArguments {
    #[command(flatten)]
    machine: MachineChoice,
    /// Override a value of the machine file, as in `l1d.ways=8`. May be repeated.
    #[arg(long = "set", value_name = "DOOR.KEY=VALUE")]
    overrides: Vec<String>,
    /// Compute correct values without modelling time. Much faster.
    #[arg(long)]
    functional: bool,
    /// Also run the reference executor, and compare all of memory after every launch.
    #[arg(long, conflicts_with = "functional")]
    check: bool,
    /// Stop launches after this many core cycles of all launches of a process.
    #[arg(long, value_name = "CYCLES", conflicts_with = "functional")]
    max_cycles: Option<u64>,
    /// Most worker threads; fewer run while more would not be faster. Does not affect results.
    /// Default: all cores.
    #[arg(long)]
    threads: Option<usize>,
    /// Write one line of JSON for each launch, and one for the whole run, to this file; for each process that uses CUDA.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Break the run's counters down by this part, as `strata run --by` does, in the JSON of a process that has ended: by `sm`, `slice`,
    /// `channel`, `launch`, `line`, `instruction`, `cta`, `buffer`, `level` or `queue`. May be repeated.
    #[arg(long, value_name = "PART", requires = "json", conflicts_with = "functional")]
    by: Vec<By>,
    /// Write counters and energy over time to this CSV file, one line per span.
    #[arg(long, value_name = "FILE.csv", conflicts_with = "functional")]
    timeline: Option<PathBuf>,
    /// Length of a timeline span, in cycles.
    #[arg(long, value_name = "CYCLES", default_value_t = 10_000, requires = "timeline")]
    span: u64,
    /// Add the program's numbers to this result store: those of the whole run, and of each launch; for each process that
    /// uses CUDA. Only a program that ends with status 0 and without a failed launch is added.
    #[arg(long, value_name = "DIR", conflicts_with = "functional")]
    store: Option<PathBuf>,
    /// Where a kernel's access to device memory is a fault.
    #[arg(long, value_enum, default_value_t)]
    bounds: Bounds,
    /// Compute capability to report to the program, which chooses and compiles its kernels by it. Default: what
    /// `STRATA_COMPUTE_CAPABILITY` says, or else 8.0.
    #[arg(long, value_name = "MAJOR.MINOR")]
    compute_capability: Option<Capability>,
    /// Driver library to load. Default: `libcuda.so` beside this command. CUDA runtimes are looked for in the
    /// driver's folder.
    #[arg(long, value_name = "FILE")]
    driver: Option<PathBuf>,
    /// Leave out what stands before the program's own libraries and tools. May be repeated, or list several with commas.
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',')]
    without: Vec<Part>,
    /// Say at the end which of CUDA's libraries were loaded from where, what stood before them, and which tools were called.
    #[arg(long)]
    report: bool,
    /// Program to run, with its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,
}

/// Runs the program to completion, says on standard error what it cost, and ends with its exit status.
///
/// # Errors
/// A machine that cannot be built, a missing driver, results that cannot be written, or a program that cannot be
/// started.
pub fn exec(arguments: &ExecArguments) -> Result<Finished, String> {
    // Refuse a bad machine and a bad store before the program starts.
    let machine = arguments.machine.load(&arguments.overrides)?;
    files(arguments, &machine).check()?;
    arguments.store.as_deref().map_or(Ok(()), check_writable)?;
    if let Some(set) = arguments.overrides.iter().find(|set| set.contains(';')) {
        return Err(format!("--set {set}: found `;`, which separates values"));
    }
    for (option, cycles) in [("--max-cycles", arguments.max_cycles), ("--span", Some(arguments.span))] {
        if cycles == Some(0) {
            return Err(format!("{option} 0: expected at least 1"));
        }
    }
    let folder = tempfile::Builder::new().prefix("strata-exec-").tempdir();
    let folder = folder.map_err(|error| format!("a folder for the libraries: {error}"))?;
    let results = folder.path().join("results");
    let program = arguments.program[0].to_string_lossy();
    let mut report = Report::new(&program, arguments, &results)?;
    let lock = folder.path().join("lock");
    let created = fs::create_dir(&results);
    let held = created.and_then(|()| File::create(&lock)).and_then(|file| file.lock().map(|()| file));
    let held = held.map_err(|error| format!("{}: {error}", folder.path().display()))?;
    let driver = libraries::driver(arguments.driver.as_deref())?;
    let parts = Parts(arguments.without.clone());
    let front = Front::make(folder.path(), &driver, Path::new(&arguments.program[0]), &parts)?;
    let mut command = command(arguments);
    front.set(&mut command);
    command.env("STRATA_RESULTS", &results).env("STRATA_LOCK", &lock);
    if arguments.timeline.is_some() {
        command
            .env("STRATA_TIMELINE", report::spans(&results))
            .env("STRATA_SPAN", arguments.span.to_string());
    }
    let ended = watch::run(&mut command, &held, &results, &mut || report.look())?;
    let mut processes = processes::read(&results);
    for process in &mut processes {
        let pid = process.pid().unwrap_or(0);
        if let Some(launch) = process.runs() {
            process.stop(&format!("the process ended during {launch}"));
        } else if ended.stopped.contains(&pid) {
            process.stop("it was interrupted");
        } else if let Some(signal) = ended.killed.get(&pid) {
            process.stop(&format!("signal {signal} ended the process"));
        }
    }
    let written = report.end(&processes);
    if arguments.report {
        eprint!("{}", found::text(&front));
    }
    if processes.is_empty() {
        let reason =
            if ended.interrupted { "was interrupted before any CUDA call" } else { "made no CUDA call" };
        eprintln!("{program}: {reason}, so there are no results");
    } else {
        eprintln!("{program}: {}", summary(&processes));
    }
    let problems =
        processes.iter().flat_map(Process::problems).inspect(|problem| eprintln!("wrong: {problem}"));
    let is_wrong = problems.count() > 0;
    let stored = store(arguments, &machine, &processes, &ended);
    for error in [written, stored].into_iter().filter_map(Result::err) {
        if ended.status == 0 {
            return Err(format!("{program}: {error}"));
        }
        eprintln!("{program}: {error}");
    }
    Ok(match ended.status {
        0 if is_wrong => Finished::Wrong,
        status => Finished::As(status),
    })
}

/// The files that the command reads and writes. A word of the program's command line may be a file that it reads.
fn files(arguments: &ExecArguments, machine: &Machine) -> Files {
    let words = arguments.program.iter().map(Path::new);
    let files = Files::new().reads_machine(machine);
    let files = words.fold(files, |files, word| files.reads("the program's", word));
    let files = files.writes("--json", arguments.json.as_deref());
    files.writes("--timeline", arguments.timeline.as_deref())
}

/// The program with its settings.
fn command(arguments: &ExecArguments) -> Command {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let mode = match arguments {
        ExecArguments { functional: true, .. } => "functional",
        ExecArguments { check: true, .. } => "check",
        _ => "timing",
    };
    let max_cycles = arguments.max_cycles.map_or_else(String::new, |cycles| cycles.to_string());
    let by: Vec<&str> = arguments.by.iter().map(|by| by.name()).collect();
    let mut command = Command::new(&arguments.program[0]);
    command
        .args(&arguments.program[1..])
        .env("STRATA_MACHINE", &arguments.machine.machine)
        .env("STRATA_SYSTEM", arguments.machine.systems.join("+"))
        .env("STRATA_SET", arguments.overrides.join(";"))
        .env("STRATA_MODE", mode)
        .env("STRATA_BOUNDS", arguments.bounds.name())
        .env("STRATA_THREADS", arguments.threads.unwrap_or(cores).to_string())
        .env("STRATA_MAX_CYCLES", max_cycles)
        .env("STRATA_BY", by.join(","))
        .env_remove("STRATA_TIMELINE");
    if let Some(capability) = arguments.compute_capability {
        command.env("STRATA_COMPUTE_CAPABILITY", capability.to_string());
    }
    command
}

/// Adds the record of each process to the store, if one is wanted.
fn store(
    arguments: &ExecArguments,
    machine: &Machine,
    processes: &[Process],
    ended: &Ended,
) -> Result<(), String> {
    let Some(folder) = arguments.store.as_deref().filter(|_| !processes.is_empty()) else { return Ok(()) };
    let program = arguments.program[0].to_string_lossy();
    if ended.interrupted {
        return Err("not stored: the run was interrupted".into());
    }
    if ended.status != 0 {
        return Err(format!("not stored: exit status: {}, expected 0", ended.status));
    }
    // A process that only asks what device there is has no numbers; one of them must have some.
    let with_launches: Vec<&Process> = processes.iter().filter(|process| process.launched()).collect();
    let wanted = if with_launches.is_empty() { processes.iter().collect() } else { with_launches };
    let mut errors = Vec::new();
    for process in &wanted {
        match store::add(arguments, folder, machine, &process.lines()) {
            Ok(path) => eprintln!("{program}: stored in {}", path.display()),
            Err(error) if wanted.len() == 1 => errors.push(error),
            Err(error) => errors.push(format!("process {}: {error}", process.number)),
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}
