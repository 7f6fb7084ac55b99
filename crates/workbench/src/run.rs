//! `run`: one workload or launch file on one machine.

use std::path::Path;

use clap::Args;
use strata_gpu::results::Provenance;
use strata_gpu::{RunError, RunRequest, run as run_on_gpu};
use strata_measure::program::Program;
use strata_workloads::Size;

use crate::choice::MachineChoice;
use crate::output::Output;
use crate::{Ended, print};

/// Arguments of `run`.
#[derive(Args)]
pub struct RunArguments {
    /// Program to run: a workload's name (see `list workloads`) or a launch file (`*.toml`).
    program: String,
    #[command(flatten)]
    machine: MachineChoice,
    /// Size of the workload: test, small or paper; suite, stash or morpheus where it has them.
    #[arg(long, default_value = "test")]
    size: String,
    /// Override a value of the machine file, as in `l1d.ways=8`. May be repeated.
    #[arg(long = "set", value_name = "DOOR.KEY=VALUE")]
    overrides: Vec<String>,
    /// Most worker threads; fewer run while more would not be faster. Does not affect results.
    /// Default: all cores.
    #[arg(long)]
    threads: Option<usize>,
    /// Also run the reference executor, and compare all of memory after every launch.
    #[arg(long)]
    check: bool,
    /// Stop after this many core cycles.
    #[arg(long, value_name = "CYCLES")]
    max_cycles: Option<u64>,
    /// Write all results as JSON to this file, or to standard output with `-`, in place of the summary.
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
}

/// Runs the program and prints or writes its results.
///
/// # Errors
/// A program or machine that cannot be loaded, a file that cannot be written, or a run that does not finish.
pub fn run(arguments: &RunArguments) -> Result<Ended, String> {
    let machine = arguments.machine.load(&arguments.overrides)?;
    let size: Size = arguments.size.parse().map_err(|error| format!("--size: {error}"))?;
    let program = Program::find(&arguments.program)?;
    // A program that launches nothing has no inputs to hash.
    let identity = program.identity(size).unwrap_or_default();
    let size_of_workload = program.launch_file().is_none().then(|| size.name().to_owned());
    let program = program.at(size)?;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = arguments.threads.unwrap_or(cores);
    if threads == 0 {
        return Err("--threads 0: expected at least 1".into());
    }
    let json = arguments.json.as_deref();
    let mut file = json.filter(|path| *path != "-").map(|path| Output::new(Path::new(path))).transpose()?;
    let mut warn = |progress: &strata_gpu::Progress| {
        progress.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    };
    let outcome = run_on_gpu(RunRequest {
        size: size_of_workload,
        overrides: &arguments.overrides,
        threads,
        saves_threads: true,
        check: arguments.check,
        max_cycles: arguments.max_cycles,
        provenance: Provenance {
            simulator: strata_gpu::SIMULATOR.into(),
            command: std::env::args().collect(),
            ptx: identity.ptx,
            inputs: identity.inputs,
            ..Provenance::default()
        },
        ..RunRequest::plain(program.as_ref(), &machine, &mut warn, &mut |_| ())
    });
    // What was measured until a run stopped is shown before why.
    let (result, stopped) = match outcome {
        Ok(result) => (result, None),
        Err(RunError::Stopped(result, error)) => (*result, Some(error.to_string())),
        Err(error) => return Err(error.to_string()),
    };
    let text = || format!("{:#}\n", result.to_json());
    match &mut file {
        Some(file) => file.write(text())?,
        None if json.is_some() => print(&text())?,
        None => {}
    }
    let did_nothing = stopped.is_some() && result.launches.is_empty() && result.phases.is_empty();
    if json != Some("-") && !did_nothing {
        print(&result.summary())?;
    }
    for problem in result.verdict.problems() {
        eprintln!("wrong: {problem}");
    }
    match stopped {
        Some(reason) => Err(reason),
        None if result.verdict.problems().is_empty() => Ok(Ended::Well),
        None => Ok(Ended::Wrong),
    }
}
