//! Many points, each a program on a machine: those that a result store lacks are run, and metrics of all come back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;

use arrow_array::{ArrayRef, Float64Array, StringArray};
use pyo3::prelude::*;
use strata_lab::job::Job;
use strata_lab::metric::{self, Known, Metric};
use strata_lab::program::Program;
use strata_lab::question::{Answers, Cell};
use strata_lab::store::{Store, check_writable};
use strata_lab::sweep::{self as lab, Limits, available_memory};
use strata_lab::threads::Threads;
use strata_lab::variant::Variant;
use strata_workloads::Size;

use crate::refused;
use crate::running::{Ended, Stopped, during};
use crate::table::Table;

/// Where results are kept and how missing ones are run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options<'py> {
    store: PathBuf,
    jobs: Option<usize>,
    memory_gib: Option<f64>,
    run: bool,
    command: Vec<String>,
    cancel: Option<Bound<'py, PyAny>>,
    progress: Option<Bound<'py, PyAny>>,
}

/// What is told of a sweep: jobs that have ended, jobs, and the last one that ended.
type Told = (usize, usize, String);

/// What runs the jobs of a sweep, on threads of this process.
pub struct Crew<'a> {
    folder: &'a Path,
    jobs: usize,
    memory_bytes: u64,
    runs: bool,
    command: &'a [String],
    interrupt: &'static AtomicBool,
    events: Sender<Told>,
}

impl Crew<'_> {
    /// Opens the store.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(&self) -> Result<Store, String> {
        let (store, findings) = Store::open(self.folder)?;
        if self.runs {
            findings.clean()?;
        }
        Ok(store)
    }

    /// Runs the jobs that the store lacks. What fails is in the store afterwards. Returns whether the sweep ended.
    ///
    /// # Errors
    /// A store that cannot be read or written.
    pub fn fill(&self, jobs: &[Job], store: &mut Store) -> Result<bool, String> {
        if !self.runs {
            return Ok(true);
        }
        if jobs.iter().any(|job| !store.has(&job.key())) {
            check_writable(self.folder)?;
        }
        let jobs: Vec<Job> =
            jobs.iter().map(|job| Job { command: self.command.to_vec(), ..job.clone() }).collect();
        let launcher = Threads::new(self.folder.to_owned(), self.interrupt);
        let limits =
            Limits { jobs: self.jobs, memory_bytes: self.memory_bytes, interrupt: Some(self.interrupt) };
        let mut tell = |progress: lab::Progress<'_>| {
            let last = progress.last.map(lab::describe).unwrap_or_default();
            // Whoever listens goes on to listen until this ends.
            let _ = self.events.send((progress.ended, progress.jobs, last));
        };
        Ok(lab::run(&jobs, store, &launcher, limits, &mut tell)?.left == 0)
    }
}

/// Does work that runs jobs. `progress` is called with the jobs that have ended, all jobs, and the last that ended.
pub fn with_crew<T: Send>(
    py: Python<'_>,
    options: &Options<'_>,
    work: impl FnOnce(&Crew<'_>) -> Result<T, String> + Send,
) -> PyResult<(T, bool)> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let jobs = options.jobs.unwrap_or(cores);
    if jobs == 0 {
        return Err(refused("jobs: found 0, expected at least 1"));
    }
    let memory_bytes =
        options.memory_gib.map_or_else(available_memory, |gib| (gib * f64::from(1 << 30)) as u64);
    let (folder, runs, command) = (options.store.as_path(), options.run, options.command.as_slice());
    let work =
        |interrupt, events| work(&Crew { folder, jobs, memory_bytes, runs, command, interrupt, events });
    let listen = |(ended, jobs, last): Told| {
        options.progress.as_ref().map_or(Ok(()), |call| call.call1((ended, jobs, last)).map(drop))
    };
    match during(py, options.cancel.as_ref(), work, listen) {
        Ended { stopped: Some(Stopped::Raised(raised)), .. } => Err(raised),
        Ended { value, stopped } => Ok((value.map_err(refused)?, stopped.is_some())),
    }
}

/// A program on a machine.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Point {
    program: String,
    size: String,
    machine: String,
    systems: Vec<String>,
    sets: Vec<String>,
}

impl Point {
    fn variant(&self) -> Variant {
        let system = (!self.systems.is_empty()).then(|| self.systems.join("+"));
        let words = [Some(self.machine.clone()), system.clone()].into_iter().flatten();
        let name: Vec<String> = words.chain(self.sets.iter().cloned()).collect();
        Variant {
            name: name.join(" "),
            base: self.machine.clone(),
            system,
            sets: self.sets.clone(),
            version: None,
        }
    }
}

/// Metrics of points: a column for each metric by its name, `missing` with the reason why the first number that a point
/// lacks is missing; and whether the caller stopped it. `metrics` are names and expressions.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn sweep(
    py: Python<'_>,
    points: Vec<Point>,
    metrics: Vec<(String, String)>,
    options: Options<'_>,
) -> PyResult<(Table, bool)> {
    let metrics = named(&metrics).map_err(refused)?;
    with_crew(py, &options, |crew| Ok(table(&metrics, &measure(crew, &points, &metrics)?)))
}

/// Metrics under names of the caller's.
///
/// # Errors
/// What is no metric.
pub fn named(metrics: &[(String, String)]) -> Result<Vec<Metric>, String> {
    let known = metric::common();
    let named = |(name, expression): &(String, String)| {
        let metric = metric::find(&known, expression).map_err(|error| format!("metric {name}: {error}"))?;
        Ok(Metric { name: name.clone(), ..metric })
    };
    metrics.iter().map(named).collect()
}

/// The metrics of each point.
fn measure(crew: &Crew<'_>, points: &[Point], metrics: &[Metric]) -> Result<Vec<Vec<Cell>>, String> {
    let mut sizes = BTreeMap::new();
    for point in points {
        let size: Size = point.size.parse().map_err(|error| format!("size: {error}"))?;
        sizes.insert(point.size.as_str(), size);
        Program::find(&point.program)?;
    }
    let variants: Vec<Variant> = points.iter().map(Point::variant).collect();
    let impossible = impossible(&variants, metrics)?;
    let mut store = crew.open()?;
    let each = || points.iter().zip(&variants).zip(&impossible);
    let jobs: Vec<Job> = {
        let mut answers = answers(&store, &sizes);
        let mut jobs = Vec::new();
        for ((point, variant), _) in each().filter(|(_, reason)| reason.is_none()) {
            let answers = answers.get_mut(point.size.as_str()).expect("every size is there");
            for metric in metrics {
                jobs.push(answers.job(metric.kind, &point.program, variant)?);
            }
        }
        jobs
    };
    crew.fill(&jobs, &mut store)?;
    let mut answers = answers(&store, &sizes);
    Ok(each()
        .map(|((point, variant), reason)| {
            let answers = answers.get_mut(point.size.as_str()).expect("every size is there");
            let cell = |metric: &Metric| match reason {
                Some(reason) => Err(reason.clone()),
                None => answers.value(metric, &point.program, variant),
            };
            metrics.iter().map(cell).collect()
        })
        .collect())
}

/// Answers for each size.
fn answers<'a>(store: &'a Store, sizes: &BTreeMap<&'a str, Size>) -> BTreeMap<&'a str, Answers<'a>> {
    sizes.iter().map(|(name, size)| (*name, Answers::new(store, *size))).collect()
}

/// Why each variant cannot be, if it cannot.
///
/// # Errors
/// If none can be, or a metric names a counter that no machine has.
fn impossible(variants: &[Variant], metrics: &[Metric]) -> Result<Vec<Option<String>>, String> {
    let mut known = Known::default();
    let mut reasons: BTreeMap<&str, Option<String>> = BTreeMap::new();
    for variant in variants {
        reasons
            .entry(&variant.name)
            .or_insert_with(|| variant.machine().and_then(|machine| known.add(&machine)).err());
    }
    if let Some(Some(reason)) = reasons.values().next().filter(|_| reasons.values().all(Option::is_some)) {
        return Err(reason.clone());
    }
    if !variants.is_empty() {
        for metric in metrics {
            known.check(metric).map_err(|error| format!("metric {}: {error}", metric.name))?;
        }
    }
    Ok(variants.iter().map(|variant| reasons[variant.name.as_str()].clone()).collect())
}

/// A row for each point.
fn table(metrics: &[Metric], cells: &[Vec<Cell>]) -> Table {
    let column = |place: usize| -> ArrayRef {
        Arc::new(cells.iter().map(|row| row[place].as_ref().ok().copied()).collect::<Float64Array>())
    };
    let mut columns: Vec<(String, ArrayRef)> =
        metrics.iter().enumerate().map(|(place, metric)| (metric.name.clone(), column(place))).collect();
    let missing = cells.iter().map(|row| row.iter().find_map(|cell| cell.as_ref().err()));
    columns.push(("missing".into(), Arc::new(missing.collect::<StringArray>())));
    Table::new(columns)
}
