//! A small command for designs and policies of your own, and what the `strata` command shares with it.
//!
//! [`main`] is the command. Register your designs first:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     // strata_designs::registry::extend(|known| known.with_l1d::<MyConfig>("my-l1d"));
//!     strata_workbench::main()
//! }
//! ```
//!
//! It takes the same words as `strata`, keeps nothing, and prints what it measured. Where sweeps are to be stored, shown or
//! run on a cluster, call `strata_cli::main` instead.
//!
//! The exit status is 0 when everything finished and was right, 1 when results were wrong or a run failed, and 2 when the
//! request was refused.

pub mod choice;
pub mod compare;
pub mod explain;
pub mod grid;
pub mod list;
pub mod numbers;
pub mod output;
pub mod question;
pub mod run;
pub mod table;

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Runs programs on machines with designs of your own.
#[derive(Parser)]
#[command(version, long_version = strata_gpu::SIMULATOR, max_term_width = 100)]
#[command(after_help = "Example:\n  cargo run --release -- run gemm --size small --set l1d.ways=8")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a workload or a launch file on a machine.
    #[command(after_help = "Example:\n  cargo run --release -- run bfs --check --set l1d.ways=8")]
    Run(run::RunArguments),
    /// Compare systems, or values of a parameter, across workloads.
    #[command(
        after_help = "Example:\n  cargo run --release -- compare gather atax --sweep l1d.ways=2,4,8 --metric ipc"
    )]
    Compare(compare::CompareArguments),
    /// List workloads, machines, systems, doors, policies or metrics.
    #[command(after_help = "Example:\n  cargo run --release -- list doors")]
    List(list::ListArguments),
    /// Explain a statistic (unit, definition, laws), a metric, a policy, or a machine's energies (values and sources).
    #[command(after_help = "Example:\n  cargo run --release -- explain l1d.load_hits")]
    Explain(explain::ExplainArguments),
}

/// Whether what ran gave right results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything finished, and what was checked is right.
    Well,
    /// A run failed, or its results are wrong.
    Wrong,
}

/// Parses the command line, runs the command and prints any error. Returns the exit status described above.
pub fn main() -> ExitCode {
    let ended = match &Arguments::parse().command {
        Command::Run(arguments) => run::run(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::List(arguments) => list::list(arguments).map(|()| Ended::Well),
        Command::Explain(arguments) => explain::explain(arguments).map(|()| Ended::Well),
    };
    match ended {
        Ok(Ended::Well) => ExitCode::SUCCESS,
        Ok(Ended::Wrong) => ExitCode::from(1),
        Err(error) => refuse(&error),
    }
}

/// Prints why a command is refused. Returns the exit status of that.
pub fn refuse(error: &str) -> ExitCode {
    let style = *clap::builder::Styles::styled().get_error();
    anstream::eprintln!("{style}error:{style:#} {error}");
    ExitCode::from(2)
}

/// The names, each once, in the order in which they were first given.
#[must_use]
pub fn once(names: &[String]) -> Vec<&String> {
    let mut seen = BTreeSet::new();
    names.iter().filter(|name| seen.insert(name.as_str())).collect()
}

/// Writes to standard output. A closed pipe is not an error.
///
/// # Errors
/// If standard output cannot be written.
pub fn print(text: &str) -> Result<(), String> {
    use std::io::{ErrorKind, Write};
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
