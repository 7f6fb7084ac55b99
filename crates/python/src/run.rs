//! One run, and what it measured.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use arrow_array::{ArrayRef, Float64Array, StringArray, UInt32Array, UInt64Array};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use strata_gpu::results::{Breakdown, By, Provenance, RunResult, Sample};
use strata_gpu::{Progress, RunError, RunRequest};
use strata_lab::job::{FORMAT, Job, Kind};
use strata_lab::metric;
use strata_lab::record::{self, Record, Row, Value};

use crate::machine::Machine;
use crate::program::{Loaded, Program};
use crate::refused;
use crate::region::Part;
use crate::running::{Ended, Stopped, during};
use crate::table::Table;
use crate::trace::Traced;

/// What a run measured, whole or until it stopped.
#[pyclass(frozen, module = "strata_gpu._native")]
pub struct Run {
    result: RunResult,
    record: Record,
    warnings: Vec<String>,
    spans: Vec<Span>,
    trace: Option<Vec<u8>>,
    cancelled: bool,
}

/// A part of a launch, and what was counted in it.
struct Span {
    progress: Progress,
    sample: Sample,
}

/// What a run tells while it goes on.
enum Event {
    Progress(u64, u64, u64, u64),
    Warning(String),
    Span(Box<Span>),
}

/// How to run a program. `progress` is called with launch, cycle, CTAs and those that have ended.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options<'py> {
    threads: Option<usize>,
    check: bool,
    max_cycles: Option<u64>,
    part: Part,
    span: Option<u64>,
    by: Vec<String>,
    trace: Option<Traced>,
    command: Vec<String>,
    cancel: Option<Bound<'py, PyAny>>,
    progress: Option<Bound<'py, PyAny>>,
}

/// Runs a program on a machine.
#[pyfunction]
pub fn run(py: Python<'_>, program: &Program, machine: &Machine, options: Options<'_>) -> PyResult<Run> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = options.threads.unwrap_or(cores);
    for (name, value) in [("threads", Some(threads as u64)), ("timeline", options.span)] {
        if value == Some(0) {
            return Err(refused(format!("{name}: found 0, expected at least 1")));
        }
    }
    let Options { check, max_cycles, part, span, command, .. } = options;
    let by = options.by.iter().map(|by| by.parse().map_err(|error| refused(format!("by: {error}"))));
    let by: Vec<By> = by.collect::<PyResult<_>>()?;
    let start = part.start().map_err(refused)?;
    let traced = options.trace.map(Traced::options);
    let tells = options.progress.is_some();
    let work = |stop, events: Sender<Event>| {
        let loaded = program.load().map_err(RunError::Refused)?;
        let mut tell = |progress: &Progress| {
            // Whoever listens goes on to listen until this ends.
            for event in told(progress, tells) {
                let _ = events.send(event);
            }
        };
        let mut trace = None;
        let mut take = |bytes| trace = bytes;
        let result = strata_gpu::run(RunRequest {
            trace: traced.map(|traced| (traced, &mut take as &mut dyn FnMut(Option<Vec<u8>>))),
            size: loaded.launch_file.is_none().then(|| loaded.size.name().to_owned()),
            overrides: machine.sets(),
            threads,
            saves_threads: true,
            check,
            max_cycles,
            interrupt: Some(stop),
            region: part.region(),
            start: start.clone(),
            provenance: provenance(&loaded, &command),
            sample_cycles: span,
            by: &by,
            ..RunRequest::plain(loaded.program.as_ref(), machine.get(), &mut tell, &mut |_| ())
        });
        Ok((result?, loaded, trace))
    };
    // A run that stopped is a result, too: what it has until then.
    let work = |stop, events| match work(stop, events) {
        Err(RunError::Stopped(result, _)) => program.load().map(|loaded| (*result, loaded, None)),
        Err(RunError::Refused(reason)) => Err(reason),
        Ok(ended) => Ok(ended),
    };
    let (mut warnings, mut spans) = (Vec::new(), Vec::new());
    let listen = |event: Event| {
        match event {
            Event::Warning(warning) => warnings.push(warning),
            Event::Span(span) => spans.push(*span),
            Event::Progress(launch, cycle, ctas, done) => {
                options
                    .progress
                    .as_ref()
                    .map_or(Ok(()), |call| call.call1((launch, cycle, ctas, done)).map(drop))?;
            }
        }
        Ok(())
    };
    let Ended { value, stopped } = during(py, options.cancel.as_ref(), work, listen);
    let cancelled = match stopped {
        Some(Stopped::Raised(raised)) => return Err(raised),
        Some(Stopped::Cancelled) => true,
        None => false,
    };
    let (result, loaded, trace) = value.map_err(refused)?;
    let rows = record::rows(&result, machine.get());
    let record = Record { job: job(&loaded, machine, &command), rows };
    Ok(Run { result, record, warnings, spans, trace, cancelled })
}

/// What is passed on of a run's progress.
fn told(progress: &Progress, tells: bool) -> Vec<Event> {
    if !progress.warnings.is_empty() {
        return progress.warnings.iter().cloned().map(Event::Warning).collect();
    }
    let Progress { launch, cycle, ctas, ctas_done, .. } = *progress;
    let mut events = Vec::new();
    if let Some(sample) = progress.sample.clone() {
        let progress = Progress { sample: None, ..progress.clone() };
        events.push(Event::Span(Box::new(Span { progress, sample })));
    }
    if tells {
        events.push(Event::Progress(launch, cycle, ctas, ctas_done));
    }
    events
}

fn provenance(loaded: &Loaded, command: &[String]) -> Provenance {
    Provenance {
        simulator: strata_lab::SIMULATOR.into(),
        command: command.to_vec(),
        ptx: loaded.identity.ptx.clone(),
        inputs: loaded.identity.inputs.clone(),
        ..Provenance::default()
    }
}

/// The run as the lab knows it.
fn job(loaded: &Loaded, machine: &Machine, command: &[String]) -> Job {
    Job {
        format: FORMAT.into(),
        simulator: strata_lab::SIMULATOR.into(),
        kind: Kind::Timing,
        workload: loaded.name.clone(),
        launch_file: loaded.launch_file.clone(),
        executed: false,
        size: loaded.size,
        variant: machine.get().name().to_owned(),
        system: machine.get().system_name(),
        overrides: machine.sets().to_vec(),
        command: command.to_vec(),
        ptx: loaded.identity.ptx.clone(),
        inputs: loaded.identity.inputs.clone(),
        machine: Some(machine.get().table().clone().into()),
        package: None,
    }
}

#[pymethods]
impl Run {
    /// Every result as JSON, as `strata run --json` writes it.
    fn json(&self) -> String {
        self.result.to_json().to_string()
    }

    /// The summary that `strata run` prints.
    fn summary(&self) -> String {
        self.result.summary()
    }

    /// `verified`, `wrong`, `not checked`, `not compared` or `not finished`.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.result.verdict.name()
    }

    /// Why it did not finish.
    #[getter]
    fn stopped(&self) -> Option<&str> {
        self.result.verdict.stopped()
    }

    /// Whether the caller's event stopped it.
    #[getter]
    fn cancelled(&self) -> bool {
        self.cancelled
    }

    /// What was found wrong, a sentence each.
    #[getter]
    fn problems(&self) -> Vec<String> {
        self.result.verdict.problems().to_vec()
    }

    /// What is dubious about its kernels, a sentence each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// The trace, if one was asked for and a launch was in its window.
    fn trace<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.trace.as_deref().map(|trace| PyBytes::new(py, trace))
    }

    /// The buffers that hold results: name, type of elements, bytes.
    fn outputs<'py>(&self, py: Python<'py>) -> Vec<(&str, &'static str, Bound<'py, PyBytes>)> {
        let outputs = self.result.outputs.iter();
        outputs
            .map(|output| (output.name.as_str(), output.element, PyBytes::new(py, &output.bytes)))
            .collect()
    }

    /// The value of a metric: a built-in name, or an expression over counters.
    fn metric(&self, name: &str) -> PyResult<f64> {
        let metric = metric::find(&metric::common(), name).map_err(refused)?;
        if metric.kind == Kind::Profile {
            return Err(refused(format!(
                "`{name}` is a metric of profiles, expected one of a run; `sweep` and `compare` measure both"
            )));
        }
        metric
            .expression
            .evaluate(self.record.numbers())
            .map_err(|reason| refused(format!("{name}: {reason}")))
    }

    /// Every number: launch (null for the whole run), group, counter, and count or real.
    fn rows(&self) -> Table {
        rows(&self.record.rows)
    }

    /// The counters of each part that the run was broken down into, and its energies.
    fn by(&self, by: &str) -> PyResult<Table> {
        let by: By = by.parse().map_err(|error| refused(format!("by: {error}")))?;
        let breakdown = self.result.breakdowns.iter().find(|breakdown| breakdown.by == by);
        let missing = || {
            refused(format!("by(\"{by}\"): the run was not broken down so, expected `by=\"{by}\"` in `run`"))
        };
        Ok(parts(breakdown.ok_or_else(missing)?))
    }

    /// The spans of a timeline: launch, kernel, cycles, and each counter and energy.
    fn timeline(&self) -> PyResult<Option<Table>> {
        let Some(first) = self.spans.first() else { return Ok(None) };
        let lines: Vec<Vec<String>> =
            self.spans.iter().map(|Span { progress, sample }| progress.fields(sample)).collect();
        let columns = first.sample.columns().into_iter().enumerate();
        let columns = columns.map(|(place, name)| {
            let texts = lines.iter().map(|line| line[place].as_str());
            let array: ArrayRef = match name.as_str() {
                "kernel" => Arc::new(texts.map(Some).collect::<StringArray>()),
                _ if name.starts_with("energy.") => {
                    Arc::new(texts.map(number::<f64>).collect::<Float64Array>())
                }
                _ => Arc::new(texts.map(number::<u64>).collect::<UInt64Array>()),
            };
            (name, array)
        });
        Ok(Some(Table::new(columns.collect())))
    }
}

/// A number that a timeline has; null if it has none.
fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

/// Numbers of each part as a table: part, group, counter, and count or real.
fn parts(breakdown: &Breakdown) -> Table {
    let (mut names, mut groups, mut counters) = (Vec::new(), Vec::new(), Vec::new());
    let (mut counts, mut reals): (Vec<Option<u64>>, Vec<Option<f64>>) = (Vec::new(), Vec::new());
    let mut add = |part: &str, group: &str, counter: &str, count, real| {
        names.push(part.to_owned());
        groups.push(group.to_owned());
        counters.push(counter.to_owned());
        counts.push(count);
        reals.push(real);
    };
    for part in &breakdown.parts {
        for group in &part.groups {
            for (counter, value) in group.definitions.iter().zip(&group.values) {
                add(&part.name, group.name, counter.name, Some(*value), None);
            }
        }
        for (structure, pj) in &part.energy_pj {
            add(&part.name, "energy", &format!("{structure}_dynamic_pj"), None, Some(*pj));
        }
    }
    Table::new(vec![
        ("part".into(), Arc::new(StringArray::from(names)) as ArrayRef),
        ("group".into(), Arc::new(StringArray::from(groups))),
        ("counter".into(), Arc::new(StringArray::from(counters))),
        ("count".into(), Arc::new(UInt64Array::from(counts))),
        ("real".into(), Arc::new(Float64Array::from(reals))),
    ])
}

/// Numbers of a record as a table.
pub fn rows(rows: &[Row]) -> Table {
    let count = |row: &Row| match row.value {
        Value::Count(count) => Some(count),
        Value::Real(_) => None,
    };
    let real = |row: &Row| match row.value {
        Value::Count(_) => None,
        Value::Real(real) => Some(real),
    };
    Table::new(vec![
        ("launch".into(), Arc::new(rows.iter().map(|row| row.launch).collect::<UInt32Array>()) as ArrayRef),
        ("group".into(), Arc::new(rows.iter().map(|row| Some(row.group.as_str())).collect::<StringArray>())),
        (
            "counter".into(),
            Arc::new(rows.iter().map(|row| Some(row.counter.as_str())).collect::<StringArray>()),
        ),
        ("count".into(), Arc::new(rows.iter().map(count).collect::<UInt64Array>())),
        ("real".into(), Arc::new(rows.iter().map(real).collect::<Float64Array>())),
    ])
}
