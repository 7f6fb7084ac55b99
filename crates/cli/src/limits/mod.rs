//! `strata limits`: what limits a program, and what a perfect part would give.

mod json;
mod text;

use std::path::Path;

use clap::Args;
use strata_lab::limits::{Part, Request, run};

use crate::choice::MachineChoice;
use crate::files::Files;
use crate::output::Output;
use crate::progress::Display;
use crate::{Finished, interrupt, print, report, workload};

/// Arguments of `strata limits`.
#[derive(Args)]
pub struct LimitsArguments {
    /// Program to run: a workload's name (see `strata list`) or a launch file (`*.toml`).
    program: String,
    #[command(flatten)]
    machine: MachineChoice,
    /// Size of the workload: test, small or paper; suite, stash or morpheus where it has them.
    #[arg(long, default_value = "test")]
    size: String,
    /// Override a value of the machine file, as in `l1d.ways=8`. May be repeated.
    #[arg(long = "set", value_name = "DOOR.KEY=VALUE")]
    overrides: Vec<String>,
    /// Make only these parts ideal: fetch, banks, dram-latency, dram-bandwidth, llc, network, mshrs, l1d. Their order is this one.
    /// Default: all.
    #[arg(long, value_name = "PART", value_delimiter = ',', value_parser = Part::named)]
    parts: Vec<Part>,
    /// Runs at a time, each on one thread. Does not affect results. Default: all cores.
    #[arg(long)]
    threads: Option<usize>,
    /// Also run the reference executor beside each run, and compare all of memory after every launch.
    #[arg(long)]
    check: bool,
    /// Write all results as JSON to this file, or to standard output with `-`, in place of the text.
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
}

/// Runs the program on the machine as it is and with ideal parts, and prints what limits it.
///
/// # Errors
/// A program or machine that cannot be loaded, or a run on the machine as it is that does not finish.
pub fn limits(arguments: &LimitsArguments) -> Result<Finished, String> {
    let machine = arguments.machine.load(&arguments.overrides)?;
    let size = workload::size(&arguments.size)?;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = arguments.threads.unwrap_or(cores);
    if threads == 0 {
        return Err("--threads 0: expected at least 1".into());
    }
    let to_file = arguments.json.as_deref().filter(|path| *path != "-").map(Path::new);
    let files = Files::new().reads_machine(&machine).reads("the launch file", Path::new(&arguments.program));
    files.writes("--json", to_file).check()?;
    let mut output = to_file.map(Output::new).transpose()?;
    let parts: Vec<Part> = Part::ALL
        .into_iter()
        .filter(|part| arguments.parts.is_empty() || arguments.parts.contains(part))
        .collect();
    let interrupt = interrupt::flag();
    let bar = std::sync::Mutex::new(Display::new(&arguments.program, true));
    let ended = |ended: usize, all: usize| {
        if let Ok(mut bar) = bar.lock() {
            bar.show(ended as u64, all as u64, format!("{ended} of {all} runs"));
        }
    };
    let request = Request {
        program: &arguments.program,
        size,
        machine: &machine,
        parts: &parts,
        threads,
        check: arguments.check,
        interrupt: Some(interrupt),
    };
    let found = run(&request, &ended);
    if let Ok(bar) = bar.into_inner() {
        bar.finish();
    }
    let found = found?;
    match (&mut output, arguments.json.is_some()) {
        (Some(output), _) => output.write(report::text(&json::of(&found, &arguments.overrides)))?,
        (None, true) => print(&report::text(&json::of(&found, &arguments.overrides)))?,
        (None, false) => print(&text::of(&found, &arguments.overrides))?,
    }
    for (parts, problem) in text::problems(&found) {
        eprintln!("wrong with {parts} ideal: {problem}");
    }
    Ok(if found.is_right() { Finished::Well } else { Finished::Wrong })
}
