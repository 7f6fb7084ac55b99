//! A result store as tables.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use pyo3::prelude::*;
use strata_lab::claims;
use strata_lab::job::{Job, Key, Kind};
use strata_lab::store::{Run, Store as Lab};
use strata_workloads::Size;

use crate::refused;
use crate::run::rows;
use crate::sweep::named;
use crate::table::Table;

/// A folder of results, as it was when it was opened.
#[pyclass(frozen, module = "strata_gpu._native")]
pub struct Store {
    store: Lab,
    passed_over: Vec<String>,
}

#[pymethods]
impl Store {
    #[new]
    fn new(py: Python<'_>, folder: PathBuf) -> PyResult<Store> {
        if !folder.is_dir() {
            return Err(refused(format!(
                "{}: found no store, expected a folder of results",
                folder.display()
            )));
        }
        let (store, findings) = py.detach(|| Lab::open(&folder)).map_err(refused)?;
        let passed_over = findings.passed_over.iter().map(ToString::to_string).collect();
        Ok(Store { store, passed_over })
    }

    /// Its folder.
    #[getter]
    fn folder(&self) -> &Path {
        self.store.folder()
    }

    /// What lies in the folder and is no result, a sentence each.
    #[getter]
    fn passed_over(&self) -> Vec<String> {
        self.passed_over.clone()
    }

    fn __len__(&self) -> usize {
        self.store.keys().count()
    }

    /// A row for each run: what ran, on what, and metrics of it by name. A metric that a run has no counter for is null.
    #[allow(clippy::needless_pass_by_value)]
    fn runs(&self, py: Python<'_>, metrics: Vec<(String, String)>) -> PyResult<Table> {
        let metrics = named(&metrics).map_err(refused)?;
        py.detach(|| {
            let runs: Vec<(&Key, &Run)> = self.store.runs().collect();
            let jobs = || runs.iter().map(|(_, run)| &run.job);
            let texts = |of: &dyn Fn(&Job) -> Option<String>| -> ArrayRef {
                Arc::new(jobs().map(of).collect::<StringArray>())
            };
            let counts = |of: fn(&Run) -> Option<u64>| -> ArrayRef {
                Arc::new(runs.iter().map(|(_, run)| of(run)).collect::<UInt64Array>())
            };
            let mut columns: Vec<(String, ArrayRef)> = vec![
                (
                    "key".into(),
                    Arc::new(runs.iter().map(|(key, _)| Some(key.to_string())).collect::<StringArray>()),
                ),
                ("workload".into(), texts(&|job| Some(job.workload.clone()))),
                ("size".into(), texts(&size)),
                ("kind".into(), texts(&|job| Some(kind(job.kind).into()))),
                ("machine".into(), texts(&|job| Some(job.variant.clone()).filter(|name| !name.is_empty()))),
                ("system".into(), texts(&|job| job.system.clone())),
                ("overrides".into(), texts(&|job| Some(job.overrides.join(" ")))),
                ("simulator".into(), texts(&|job| Some(job.simulator.clone()))),
                ("launches".into(), counts(|run| run.launches)),
                ("cycles".into(), counts(|run| run.cycles)),
                ("thread_instructions".into(), counts(|run| run.thread_instructions)),
            ];
            if !metrics.is_empty() {
                let mut values = vec![Vec::new(); metrics.len()];
                for (key, _) in &runs {
                    let record = self.store.get(key)?;
                    for (metric, values) in metrics.iter().zip(&mut values) {
                        let record = record.as_ref().filter(|record| record.job.kind == metric.kind);
                        values.push(
                            record.and_then(|record| metric.expression.evaluate(record.numbers()).ok()),
                        );
                    }
                }
                let named = metrics.iter().zip(values);
                columns.extend(named.map(|(metric, values)| {
                    (metric.name.clone(), Arc::new(Float64Array::from(values)) as ArrayRef)
                }));
            }
            Ok(Table::new(columns))
        })
        .map_err(|error: String| refused(error))
    }

    /// Every number of a run, by its key: launch (null for the whole run), group, counter, count or real.
    fn rows(&self, key: &str) -> PyResult<Table> {
        let found = self.store.keys().find(|known| known.to_string() == key);
        let found = found.ok_or_else(|| {
            refused(format!(
                "{}: found no run `{key}`, expected a key of `runs`",
                self.store.folder().display()
            ))
        })?;
        let record = self.store.get(found).map_err(refused)?;
        Ok(rows(&record.ok_or_else(|| refused(format!("{key}: is gone")))?.rows))
    }

    /// Jobs that failed: what ran, and why it failed.
    fn failures(&self) -> Table {
        let column = |of: fn(&strata_lab::store::Failure) -> &str| -> ArrayRef {
            Arc::new(self.store.failures().map(|failure| Some(of(failure))).collect::<StringArray>())
        };
        Table::new(vec![
            ("job".into(), column(|failure| &failure.job)),
            ("reason".into(), column(|failure| &failure.reason)),
        ])
    }

    /// A row for each published number of a paper: what was published, what the store's runs at a size say, the verdict.
    fn claims(&self, py: Python<'_>, paper: &str, size: &str) -> PyResult<Table> {
        let size: Size = size.parse().map_err(|error| refused(format!("size: {error}")))?;
        let known = claims::papers();
        if !known.iter().any(|name| name == paper) {
            return Err(refused(format!("found no paper `{paper}`, expected one of {}", known.join(", "))));
        }
        let claimed = py.detach(|| claims::rows(&[paper], &self.store, size)).map_err(refused)?;
        let texts = |of: &dyn Fn(&claims::Row) -> Option<String>| -> ArrayRef {
            Arc::new(claimed.iter().map(of).collect::<StringArray>())
        };
        let reals = |of: &dyn Fn(&claims::Row) -> Option<f64>| -> ArrayRef {
            Arc::new(claimed.iter().map(of).collect::<Float64Array>())
        };
        let measured = |row: &claims::Row| row.measured.as_ref().ok().map(|measured| measured.value);
        Ok(Table::new(vec![
            ("id".into(), texts(&|row| Some(row.claim.id.clone()))),
            ("where".into(), texts(&|row| Some(row.claim.r#where.clone()))),
            ("metric".into(), texts(&|row| Some(row.claim.metric.clone()))),
            ("published".into(), texts(&|row| Some(row.claim.published_text()))),
            ("measured".into(), reals(&measured)),
            ("missing".into(), texts(&|row| row.measured.as_ref().err().cloned())),
            ("verdict".into(), texts(&|row| Some(row.verdict.name().to_owned()))),
        ]))
    }
}

/// The size of a workload, which alone has several.
fn size(job: &Job) -> Option<String> {
    (!job.executed && job.launch_file.is_none()).then(|| job.size.name().to_owned())
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Timing => "timing",
        Kind::Profile => "profile",
    }
}
