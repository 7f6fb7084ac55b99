//! `compare`: systems or parameter values against each other, measured here and now.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use strata_gpu::machine::Machine;
use strata_measure::compare::{Comparison, Impossible};
use strata_measure::grid::{Cell, Grid};
use strata_measure::metric::{Kind, Metric};
use strata_measure::numbers::{self, Numbers, Row};
use strata_measure::profile;
use strata_measure::program::Program;
use strata_measure::variant::Variant;
use strata_workloads::Size;

use crate::output::Output;
use crate::question::Question;
use crate::{Ended, grid, numbers as formats, print, table};

/// Arguments of `compare`.
#[derive(Args)]
pub struct CompareArguments {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    outputs: Outputs,
    /// Also run the reference executor, and compare all of memory after every launch.
    #[arg(long)]
    check: bool,
    /// Number of runs at once, each on one thread. Default: one per core.
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

/// Runs every program on every machine, then prints the comparison.
///
/// # Errors
/// A mistake in the question: an unknown workload, system or metric; or a file that cannot be written.
pub fn compare(arguments: &CompareArguments) -> Result<Ended, String> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let jobs = arguments.jobs.unwrap_or(cores);
    if jobs == 0 {
        return Err("--jobs 0: expected at least 1".into());
    }
    let (comparison, impossible) = arguments.question.ask(|_| ())?;
    let mut outputs = arguments.outputs.open()?;
    for (point, reason) in comparison.named(&impossible) {
        eprintln!("left out: {point}: {reason}");
    }
    let measured = Measured::all(&comparison, &impossible, arguments.check, jobs);
    for (run, reason) in &measured.failures {
        eprintln!("failed: {run}: {reason}");
    }
    let grids = comparison.grids(|metric, workload, variant| measured.value(metric, workload, variant));
    outputs.write(&comparison, &grids)?;
    Ok(if measured.failures.is_empty() { Ended::Well } else { Ended::Wrong })
}

/// Where the numbers of a comparison go.
#[derive(Args)]
pub struct Outputs {
    /// Write the numbers as CSV to this file: a line for each number, with its workload, system, swept values and metric;
    /// `-` for standard output in place of the tables.
    #[arg(long, value_name = "FILE.csv")]
    pub csv: Option<PathBuf>,
    /// Write the numbers as JSON to this file; `-` for standard output in place of the tables.
    #[arg(long, value_name = "FILE.json", conflicts_with = "csv")]
    pub json: Option<PathBuf>,
}

/// Files for a comparison's numbers, found to be writable.
pub struct Opened<'a> {
    outputs: &'a Outputs,
    csv: Option<Output>,
    json: Option<Output>,
}

impl Outputs {
    /// Checks that the files can be written.
    ///
    /// # Errors
    /// Why one cannot.
    pub fn open(&self) -> Result<Opened<'_>, String> {
        let file = |path: &Option<PathBuf>| {
            path.as_deref().filter(|path| *path != Path::new("-")).map(Output::new).transpose()
        };
        Ok(Opened { outputs: self, csv: file(&self.csv)?, json: file(&self.json)? })
    }
}

impl Opened<'_> {
    /// Writes the numbers to the files, and to standard output what is asked for there: tables by default.
    ///
    /// # Errors
    /// What cannot be written any more.
    pub fn write(&mut self, comparison: &Comparison, grids: &[Grid]) -> Result<(), String> {
        match (&mut self.csv, &mut self.json) {
            (Some(file), _) => file.write(formats::csv(comparison, grids))?,
            (_, Some(file)) => file.write(formats::json(comparison, grids))?,
            _ => {}
        }
        match (&self.outputs.csv, &self.outputs.json) {
            (Some(path), _) if path == Path::new("-") => print(&formats::csv(comparison, grids)),
            (_, Some(path)) if path == Path::new("-") => print(&formats::json(comparison, grids)),
            _ => print(&tables(comparison, grids)),
        }
    }
}

/// Each metric as a table, and with several variants also over the base.
fn tables(comparison: &Comparison, grids: &[Grid]) -> String {
    let width = table::width();
    let tables = grids.iter().flat_map(|grid| {
        let numbers = [Some(grid.clone()), comparison.relative(grid)].into_iter().flatten();
        let numbers: Vec<String> = numbers.map(|grid| grid::text(&grid, &comparison.axes, width)).collect();
        numbers.into_iter().chain(comparison.effects(grid).map(|effects| grid::of_columns(&effects, width)))
    });
    tables.collect::<Vec<_>>().join("\n")
}

/// One run that a comparison needs.
struct Run<'a> {
    kind: Kind,
    workload: &'a str,
    variant: &'a Variant,
}

impl Run<'_> {
    /// What its numbers are found by. A profile is the same on every machine.
    fn key(&self) -> Key {
        let on = if self.kind == Kind::Profile { "" } else { &self.variant.name };
        (self.kind, self.variant.program(self.workload).into_owned(), on.to_owned())
    }

    fn name(&self) -> String {
        match self.kind {
            Kind::Timing => format!("{} on {}", self.workload, self.variant.name),
            Kind::Profile => format!("the profile of {}", self.workload),
        }
    }

    fn measure(&self, size: Size, check: bool) -> Outcome {
        let program = Program::find(&self.variant.program(self.workload))?;
        let size_of_workload = program.launch_file().is_none().then_some(size);
        let program = program.at(size)?;
        Ok(match self.kind {
            Kind::Profile => (profile::rows(program.as_ref())?, None),
            Kind::Timing => {
                let machine = self.variant.machine()?;
                let rows = numbers::measure(program.as_ref(), size_of_workload, &machine, check, None)?;
                (rows, Some(machine))
            }
        })
    }
}

type Key = (Kind, String, String);

/// The numbers of a run and its machine, or why there are none.
type Outcome = Result<(Vec<Row>, Option<Machine>), String>;

/// Everything that a comparison has measured.
struct Measured {
    outcomes: BTreeMap<Key, Outcome>,
    /// The runs that gave no numbers, and why.
    failures: Vec<(String, String)>,
}

impl Measured {
    /// Measures what a comparison needs, so many runs at once.
    fn all(comparison: &Comparison, impossible: &Impossible, check: bool, at_once: usize) -> Measured {
        let mut runs: Vec<Run<'_>> = Vec::new();
        for (workload, variant) in comparison.points(impossible) {
            for kind in comparison.kinds() {
                let run = Run { kind, workload, variant };
                if runs.iter().all(|known| known.key() != run.key()) {
                    runs.push(run);
                }
            }
        }
        let next = AtomicUsize::new(0);
        let ended = Mutex::new(Vec::new());
        let work = || {
            while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let outcome = run.measure(comparison.size, check);
                let mut ended = ended.lock().expect("no run panics with the lock");
                ended.push((run, outcome));
                tell(ended.len(), runs.len(), &run.name());
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..at_once.min(runs.len()) {
                scope.spawn(work);
            }
        });
        let ended = ended.into_inner().expect("every thread has ended");
        let failed =
            ended.iter().filter_map(|(run, outcome)| Some((run.name(), outcome.as_ref().err()?.clone())));
        let mut failures: Vec<(String, String)> = failed.collect();
        failures.sort();
        Measured {
            failures,
            outcomes: ended.into_iter().map(|(run, outcome)| (run.key(), outcome)).collect(),
        }
    }

    /// A metric of a workload on a variant.
    fn value(&self, metric: &Metric, workload: &str, variant: &Variant) -> Cell {
        let key = Run { kind: metric.kind, workload, variant }.key();
        match self.outcomes.get(&key) {
            Some(Ok((rows, machine))) => {
                metric.expression.evaluate(Numbers { rows, machine: machine.as_ref().map(Machine::table) })
            }
            Some(Err(reason)) => Err(reason.clone()),
            // A swept point whose machine cannot be.
            None => Err(variant.machine().err().unwrap_or_else(|| "not run".into())),
        }
    }
}

/// Says on a terminal how far the runs are, in one line.
fn tell(done: usize, all: usize, last: &str) {
    if std::io::stderr().is_terminal() {
        let end = if done == all { '\n' } else { '\r' };
        eprint!("\x1b[K{done} of {all} runs, last {last}{end}");
    }
}
