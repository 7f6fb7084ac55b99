//! `strata compare`: systems or parameter values against each other.

use std::path::PathBuf;

use clap::Args;
use strata_gpu::machine::Machine;
use strata_lab::compare::{self, Comparison, Impossible};
use strata_lab::page::{self, Address};
use strata_lab::program::Program;
use strata_lab::uncertain::Options;
use strata_workbench::compare::Outputs;
use strata_workbench::question::Question;

use crate::files::Files;
use crate::origin::origin;
use crate::output::Output;
use crate::progress::{PREPARING, during};
use crate::sweep::SweepArguments;
use crate::uncertain::{self, UncertainArguments};
use crate::{Finished, run_pages};

/// Arguments of `strata compare`.
#[derive(Args)]
pub struct CompareArguments {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    outputs: Outputs,
    /// Write an HTML page with tables and charts to this file.
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Write a page of each run too, into the folder `runs` beside the page, which links them.
    #[arg(long, requires = "out")]
    run_pages: bool,
    #[command(flatten)]
    uncertain: UncertainArguments,
    /// With `--uncertain`: write the draws with their numbers, as JSON, to this file.
    #[arg(long, value_name = "FILE.json", requires = "uncertain")]
    draws: Option<PathBuf>,
    #[command(flatten)]
    sweep: SweepArguments,
}

/// Runs the jobs that the store lacks, then prints the comparison.
///
/// # Errors
/// A mistake in the question (an unknown workload, system or metric), or a store that cannot be used.
pub fn compare(arguments: &CompareArguments) -> Result<Finished, String> {
    let mut files = Files::new();
    let look = |machine: &Machine| files = std::mem::take(&mut files).reads_machine(machine);
    let (comparison, impossible) = during(PREPARING, || arguments.question.ask(look))?;
    with_files_of(arguments, &comparison, files)?.check()?;
    for (point, reason) in comparison.named(&impossible) {
        eprintln!("left out: {point}: {reason}");
    }
    if let Some(options) = arguments.uncertain.options()? {
        return uncertain(arguments, &comparison, &impossible, options);
    }
    let mut outputs = arguments.outputs.open()?;
    let mut out = arguments.out.as_deref().map(Output::new).transpose()?;
    let run_pages = arguments.out.as_deref().filter(|_| arguments.run_pages);
    let run_pages = run_pages.map(run_pages::folder).transpose()?;
    let mut store = arguments.sweep.open()?;
    let jobs = during(PREPARING, || compare::jobs(&comparison, &store, &impossible))?;
    let swept = arguments.sweep.run(&jobs, &mut store)?;
    if swept.left > 0 {
        return Ok(Finished::Interrupted);
    }
    if arguments.sweep.only_writes() {
        return Ok(Finished::Well);
    }
    let grids = during("reading the results", || compare::grids(&comparison, &store));
    outputs.write(&comparison, &grids)?;
    if let Some(out) = &mut out {
        out.write(&during("writing the page", || {
            if let Some(folder) = &run_pages {
                run_pages::write(folder, &jobs, &store)?;
            }
            let address = run_pages.as_ref().map(|_| run_pages::address as Address);
            page::comparison(&comparison, &grids, (&jobs, &store), address, &origin())
        })?)?;
    }
    Ok(if swept.failures.is_empty() { Finished::Well } else { Finished::Wrong })
}

/// Says how much the comparison's numbers depend on what is assumed.
fn uncertain(
    arguments: &CompareArguments,
    comparison: &Comparison,
    impossible: &Impossible,
    options: Options,
) -> Result<Finished, String> {
    if arguments.out.is_some() {
        return Err("--out: found it with --uncertain, expected --csv, --json or --draws".into());
    }
    let machines: Vec<&str> = comparison.variants.iter().map(|variant| variant.name.as_str()).collect();
    let of = format!("{} on {}", comparison.workloads.join(", "), machines.join(", "));
    let mut store = arguments.sweep.open()?;
    let CompareArguments { outputs: Outputs { csv, json }, draws, .. } = arguments;
    let outputs = uncertain::Outputs { csv: csv.as_deref(), json: json.as_deref(), draws: draws.as_deref() };
    let asked = (comparison, impossible);
    uncertain::run((&asked, of), comparison.size, options, (&arguments.sweep, &mut store), outputs)
}

/// Adds the files of the programs, and those that the command writes.
fn with_files_of(
    arguments: &CompareArguments,
    comparison: &Comparison,
    mut files: Files,
) -> Result<Files, String> {
    for program in &comparison.workloads {
        if let Program::LaunchFile(path, file) = Program::find(program)? {
            files = files.reads("the launch file", &path).reads_launch_file(&file);
        }
    }
    let CompareArguments { outputs: Outputs { csv, json }, out, .. } = arguments;
    let files = files.writes("--csv", csv.as_deref()).writes("--json", json.as_deref());
    let files = files.writes("--draws", arguments.draws.as_deref());
    Ok(files.writes("--out", out.as_deref()))
}
