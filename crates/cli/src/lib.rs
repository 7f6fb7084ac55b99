//! The `strata` command: a thin layer over the library.
//!
//! [`main`] is the whole command. To ship the command with your own designs, register them with
//! `strata_designs::registry::extend` in your own program and then call [`main`].
//!
//! Results go to standard output, progress and messages to standard error. The exit status is 0 when
//! everything finished and, where checked, verified; 1 when results were wrong; 2 when the request was
//! refused.

mod area;
mod choice;
mod claims;
mod compare;
mod exec;
mod explain;
mod job;
mod list;
mod machine;
mod origin;
mod progress;
mod repro;
mod run;
mod sweep;
mod timeline;
mod workload;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Simulates a GPU's memory hierarchy cycle by cycle and says what a program would cost on it.
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
    /// Run an unmodified CUDA program on a machine.
    Exec(exec::ExecArguments),
    /// List workloads, machines, systems or doors.
    List(list::ListArguments),
    /// Explain a statistic (unit, definition, laws) or a machine's energies (values and sources).
    Explain(explain::ExplainArguments),
    /// Print the area of an SM's L1D, in transistors.
    Area(area::AreaArguments),
    /// Export, profile or verify the built-in workloads.
    Workload(workload::WorkloadArguments),
    /// Check machine files for errors.
    Machine(machine::MachineArguments),
    /// Repeat a paper's evaluation: run the missing jobs and write a page.
    Repro(repro::ReproArguments),
    /// Show published numbers beside measured ones, with verdicts.
    Claims(claims::ClaimsArguments),
    /// Compare systems, or values of a parameter, across workloads.
    Compare(compare::CompareArguments),
    /// Run one job of a sweep and add its result to a store.
    Job(job::JobArguments),
}

/// How a command ended.
enum Finished {
    /// Everything finished as asked.
    Well,
    /// The run finished, but its results are wrong.
    Wrong,
}

/// Parses the command line, runs the command and prints any error. Returns the exit status described above.
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

/// Writes to standard output. A closed pipe is not an error.
fn print(text: &str) -> Result<(), String> {
    use std::io::{ErrorKind, Write};
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}
