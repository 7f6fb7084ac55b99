//! The `strata` command: a thin face of the library.
//!
//! [`main`] is all of it, so that a program of one's own can add designs first
//! (`strata_designs::registry::extend`) and then be the same command with them.
//!
//! Results go to standard output, progress and messages to standard error. Exit status: 0 when everything
//! finished and, where it was checked, verified; 1 when results were wrong; 2 when something was refused.

mod area;
mod choice;
mod claims;
mod compare;
mod exec;
mod explain;
mod job;
mod list;
mod machine;
mod progress;
mod repro;
mod run;
mod sweep;
mod timeline;
mod workload;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What would this GPU program cost on that memory hierarchy?
#[derive(Parser)]
#[command(name = "strata", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a workload or a launch file on a machine.
    Run(run::RunArguments),
    /// Run a CUDA program as it is on a machine.
    Exec(exec::ExecArguments),
    /// List the workloads, machines or doors.
    List(list::ListArguments),
    /// Say what a statistic means: its unit, its definition, its laws; or what costs energy, and why so much.
    Explain(explain::ExplainArguments),
    /// Say what an SM's L1D takes of the chip, in transistors.
    Area(area::AreaArguments),
    /// Work with the built-in workloads.
    Workload(workload::WorkloadArguments),
    /// Work with machine files.
    Machine(machine::MachineArguments),
    /// Repeat a paper's evaluation: run what is missing, write a page.
    Repro(repro::ReproArguments),
    /// Show published numbers beside measured ones, with verdicts.
    Claims(claims::ClaimsArguments),
    /// Compare systems, or values of a parameter, on workloads.
    Compare(compare::CompareArguments),
    /// Run one job of a sweep: a file in, a result in a store.
    Job(job::JobArguments),
}

/// What a command came to.
enum Finished {
    /// As asked.
    Well,
    /// The run finished, its results are wrong.
    Wrong,
}

/// Reads the command line, does what it says, and prints what went wrong.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let finished = match &arguments.command {
        Command::Run(arguments) => run::run(arguments),
        Command::Exec(arguments) => exec::exec(arguments),
        Command::List(arguments) => list::list(arguments),
        Command::Explain(arguments) => explain::explain(arguments),
        Command::Area(arguments) => area::area(arguments),
        Command::Workload(arguments) => workload::workload(arguments),
        Command::Machine(arguments) => machine::machine(arguments),
        Command::Repro(arguments) => repro::repro(arguments),
        Command::Claims(arguments) => claims::claims(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Job(arguments) => job::job(arguments),
    };
    match finished {
        Ok(Finished::Well) => ExitCode::SUCCESS,
        Ok(Finished::Wrong) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Writes to standard output; a reader that has gone away is no error.
fn print(text: &str) -> Result<(), String> {
    use std::io::{ErrorKind, Write};
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}
