//! The `strata` command: a thin layer over the library.
//!
//! [`main`] is the whole command. To ship the command with your own designs, register them with
//! `strata_designs::registry::extend` in your own program and then call [`main`].
//!
//! Results go to standard output, progress and messages to standard error. The exit status is 0 when
//! everything finished and, where checked, verified; 1 when results were wrong, a program races or `doctor` finds
//! something broken; 2 when the request was refused or a run was stopped; 3 when another process runs the job; 128 and the signal when one ended a sweep. `strata exec` ends
//! as its program does.

mod area;
mod breakdown;
mod claims;
mod cluster;
mod compare;
mod critical_path;
mod diff;
mod doctor;
mod dump;
mod exec;
mod files;
mod interrupt;
mod job;
mod limits;
mod list;
mod machine;
mod new;
mod origin;
mod page;
mod progress;
mod races;
mod report;
mod repro;
mod run;
mod serve;
mod shell;
mod store;
mod sweep;
mod timeline;
mod trace;
mod validate;
mod workload;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ColorChoice, Parser, Subcommand};
use strata_workbench::{choice, explain, grid, once, output, print, refuse, table};

/// Simulates a GPU's memory hierarchy cycle by cycle and says what a program would cost on it.
#[derive(Parser)]
#[command(name = "strata", version, long_version = strata_lab::SIMULATOR, about, max_term_width = 100)]
#[command(after_help = "Example:\n  strata run gemm --size small --set l1d.ways=8")]
struct Arguments {
    /// Show no progress.
    #[arg(long, global = true)]
    quiet: bool,
    /// When to colour help and errors. `auto`: on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a workload or a launch file on a machine.
    #[command(after_help = "Example:\n  strata run bfs --size small --check --set l1d.ways=8")]
    Run(run::RunArguments),
    /// Write a small launch file with its PTX, to begin with.
    #[command(after_help = "Example:\n  strata new mine --dir kernels")]
    New(new::NewArguments),
    /// Run an unmodified CUDA program on a machine.
    #[command(after_help = "Example:\n  strata exec --machine volta-fuse -- python3 program.py")]
    Exec(exec::ExecArguments),
    /// List workloads, machines, systems, doors, metrics or papers, or the runs of a store.
    #[command(after_help = "Example:\n  strata list workloads polybench")]
    List(list::ListArguments),
    /// Explain a statistic (unit, definition, laws), a metric, or a machine's energies (values and sources).
    #[command(after_help = "Example:\n  strata explain l1d.load_hits")]
    Explain(explain::ExplainArguments),
    /// Print the area of an SM's L1D, and of every other design that says its own.
    #[command(after_help = "Example:\n  strata area --system l1-sram")]
    Area(area::AreaArguments),
    /// Export, profile or verify the built-in workloads.
    #[command(after_help = "Example:\n  strata workload verify gemm --size test")]
    Workload(workload::WorkloadArguments),
    /// Check, show or compare machines, or list their keys.
    #[command(after_help = "Example:\n  strata machine keys l1d")]
    Machine(machine::MachineArguments),
    /// Repeat a paper's evaluation: run the missing jobs and write a page.
    #[command(after_help = "Example:\n  strata repro fuse --figure 13 --size test")]
    Repro(repro::ReproArguments),
    /// Show published numbers beside measured ones, with verdicts.
    #[command(after_help = "Example:\n  strata claims fuse --store strata-store")]
    Claims(claims::ClaimsArguments),
    /// Run microbenchmarks on a machine, and show their figures beside those of GPUs.
    #[command(
        after_help = "Example:\n  strata validate volta-fuse --family latency,arithmetic --out validation.html"
    )]
    Validate(validate::ValidateArguments),
    /// Compare systems, or values of a parameter, across workloads.
    #[command(after_help = "Example:\n  strata compare gather atax --sweep l1d.ways=2,4,8 --metric ipc")]
    Compare(compare::CompareArguments),
    /// Say what changed between two runs, and why.
    #[command(after_help = "Example:\n  strata diff \"run atax\" \"run atax --set l1d.ways=8\"")]
    Diff(diff::DiffArguments),
    /// Say what limits a program on a machine, and what perfect parts would give.
    #[command(after_help = "Example:\n  strata limits atax --size small --set l1d.mshr_entries=8")]
    Limits(limits::LimitsArguments),
    /// Run jobs of a sweep and add their results to a store.
    #[command(after_help = "Example:\n  strata job jobs/0123.toml --store strata-store")]
    Job(job::JobArguments),
    /// Show a result store in a browser, while sweeps go on.
    #[command(after_help = "Example:\n  strata serve --store strata-store")]
    Serve(serve::ServeArguments),
    /// Care for a result store.
    #[command(after_help = "Example:\n  strata store compact strata-store")]
    Store(store::StoreArguments),
    /// Say what this host has for each feature, what is missing, and how to get it.
    #[command(after_help = "Example:\n  strata doctor --json")]
    Doctor(doctor::DoctorArguments),
    /// Print a script that completes this command's words in a shell.
    #[command(after_help = "Example:\n  strata completions bash")]
    Completions(shell::CompletionsArguments),
    /// Write manual pages, one for each command.
    #[command(after_help = "Example:\n  strata man target/man")]
    Man(shell::ManArguments),
}

/// How a command ended.
enum Finished {
    /// Everything finished as asked.
    Well,
    /// The run finished, but its results are wrong.
    Wrong,
    /// Another process does what was asked for.
    Elsewhere,
    /// An interrupt ended it, and it has said how to go on.
    Interrupted,
    /// As a program that it ran: with this status.
    As(u8),
}

/// Parses the command line, runs the command and prints any error. Returns the exit status described above.
pub fn main() -> ExitCode {
    if let Some(status) = exec::tools::as_tool() {
        return status;
    }
    colour(std::env::args_os());
    let arguments = Arguments::parse();
    if arguments.quiet {
        progress::be_quiet();
    }
    let finished = match &arguments.command {
        Command::Run(arguments) => run::run(arguments),
        Command::New(arguments) => new::new(arguments),
        Command::Exec(arguments) => exec::exec(arguments),
        Command::List(arguments) => list::list(arguments),
        Command::Explain(arguments) => explain::explain(arguments).map(|()| Finished::Well),
        Command::Area(arguments) => area::area(arguments),
        Command::Workload(arguments) => workload::workload(arguments),
        Command::Machine(arguments) => machine::machine(arguments),
        Command::Repro(arguments) => repro::repro(arguments),
        Command::Claims(arguments) => claims::claims(arguments),
        Command::Validate(arguments) => validate::validate(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Diff(arguments) => diff::diff(arguments),
        Command::Limits(arguments) => limits::limits(arguments),
        Command::Job(arguments) => job::job(arguments),
        Command::Serve(arguments) => serve::serve(arguments),
        Command::Store(arguments) => store::store(arguments),
        Command::Doctor(arguments) => doctor::doctor(arguments),
        Command::Completions(arguments) => shell::completions(arguments),
        Command::Man(arguments) => shell::man(arguments),
    };
    match finished {
        Ok(Finished::Well) => ExitCode::SUCCESS,
        Ok(Finished::Wrong) => ExitCode::from(1),
        Ok(Finished::Interrupted) => ExitCode::from(interrupt::status()),
        Ok(Finished::As(status)) => ExitCode::from(status),
        Ok(Finished::Elsewhere) => ExitCode::from(strata_lab::sweep::ELSEWHERE),
        Err(error) => refuse(&error),
    }
}

/// Takes `--color` from the arguments before they are parsed, since what is wrong with them may be coloured, too.
fn colour(arguments: impl Iterator<Item = OsString>) {
    let mut words = arguments.filter_map(|word| word.into_string().ok()).take_while(|word| word != "--");
    let chosen = std::iter::from_fn(|| {
        let word = words.next()?;
        Some(if word == "--color" { words.next() } else { word.strip_prefix("--color=").map(str::to_owned) })
    });
    let choice = match chosen.flatten().last().as_deref() {
        Some("always") => anstream::ColorChoice::Always,
        Some("never") => anstream::ColorChoice::Never,
        _ => anstream::ColorChoice::Auto,
    };
    choice.write_global();
}

#[cfg(test)]
mod tests;
