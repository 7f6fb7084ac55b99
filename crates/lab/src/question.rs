//! Looks up metrics of workloads on variants: the jobs that measure them, and their values in a store.

use std::collections::BTreeMap;

use strata_workloads::Size;

use crate::job::{Job, Key, Kind};
use crate::metric::Metric;
use crate::origin::Origin;
use crate::program::Program;
use crate::record::Record;
use crate::resolved::Resolved;
use crate::store::{Difference, Store};
use crate::variant::Variant;

pub use strata_measure::grid::Cell;

/// Machines by the names of their variants, or why one cannot be built.
pub(crate) type Machines = BTreeMap<String, Result<Resolved, String>>;

/// A variant's machine.
pub(crate) fn resolve(variant: &Variant) -> Result<Resolved, String> {
    variant.machine().map(|machine| Resolved::from(machine.table().clone()))
}

/// Looks up numbers in a store.
pub struct Answers<'a> {
    store: &'a Store,
    size: Size,
    machines: Machines,
    profiles: BTreeMap<String, Result<Job, String>>,
    keys: BTreeMap<(Kind, String, String), Result<Key, String>>,
    records: BTreeMap<Key, Record>,
    /// How the runs that were found by name differ from what was asked for.
    named: BTreeMap<Key, Difference>,
    origin: Origin,
}

impl<'a> Answers<'a> {
    /// Answers from `store` at one size. Variants with the same name must be the same variant.
    #[must_use]
    pub fn new(store: &'a Store, size: Size) -> Self {
        Self {
            store,
            size,
            machines: BTreeMap::new(),
            profiles: BTreeMap::new(),
            keys: BTreeMap::new(),
            records: BTreeMap::new(),
            named: BTreeMap::new(),
            origin: Origin::default(),
        }
    }

    /// Where the numbers since the last call come from.
    pub fn take_origin(&mut self) -> Origin {
        std::mem::take(&mut self.origin)
    }

    /// The same, with machines that were built before.
    pub(crate) fn knowing(self, machines: Machines) -> Self {
        Self { machines, ..self }
    }

    /// The machines that it has built.
    pub(crate) fn into_machines(self) -> Machines {
        self.machines
    }

    /// Forgets the runs that were looked at, which take the more memory the more there are.
    pub(crate) fn forget_runs(&mut self) {
        self.records.clear();
        self.keys.clear();
    }

    /// Size of the workloads.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    /// The job that measures `kind` of a workload on a variant.
    ///
    /// # Errors
    /// An unknown workload or system, or a machine that cannot be built.
    pub fn job(&mut self, kind: Kind, workload: &str, variant: &Variant) -> Result<Job, String> {
        let workload = variant.program(workload).into_owned();
        let machine = match kind {
            Kind::Profile => None,
            Kind::Timing => {
                let known = self.machines.entry(variant.name.clone());
                Some(known.or_insert_with(|| resolve(variant)).clone()?)
            }
        };
        // Hashing the inputs may require generating them, so do it once.
        let profile = match self.profiles.get(&workload) {
            Some(profile) => profile.clone(),
            None => {
                let profile = Job::profile(&workload, self.size);
                self.profiles.insert(workload, profile.clone());
                profile
            }
        }?;
        Ok(match machine {
            None => profile,
            Some(machine) => profile.on(variant, machine),
        })
    }

    /// The value of a metric.
    ///
    /// # Errors
    /// Why there is no value: no such job, a job that failed or has not run yet, or a missing counter.
    pub fn value(&mut self, metric: &Metric, workload: &str, variant: &Variant) -> Cell {
        let record = self.record(metric, workload, variant)?;
        metric.expression.evaluate(record.numbers())
    }

    /// Whether a finished run has no value for the metric because the metric divides by zero or a counter is infinite.
    pub fn is_undefined(&mut self, metric: &Metric, workload: &str, variant: &Variant) -> bool {
        self.record(metric, workload, variant)
            .is_ok_and(|record| metric.expression.is_undefined(record.numbers()))
    }

    fn record(&mut self, metric: &Metric, workload: &str, variant: &Variant) -> Result<&Record, String> {
        if self.store.is_empty() {
            Program::find(&variant.program(workload))?;
            return Err("not run yet".into());
        }
        let name = if metric.kind == Kind::Profile { String::new() } else { variant.name.clone() };
        let asked = (metric.kind, variant.program(workload).into_owned(), name);
        let key = match self.keys.get(&asked) {
            Some(key) => key.clone(),
            None => {
                let key = self.job(metric.kind, workload, variant).and_then(|job| self.find(&job));
                self.keys.insert(asked, key.clone());
                key
            }
        }?;
        if !self.records.contains_key(&key) {
            let record = self.store.get(&key)?.ok_or("not run yet")?;
            self.records.insert(key.clone(), record);
        }
        let record = &self.records[&key];
        if !self.origin.versions.contains(&record.job.simulator) {
            self.origin.versions.insert(record.job.simulator.clone());
        }
        if !self.origin.runs.contains(&key) {
            self.origin.runs.insert(key.clone());
        }
        if let Some(difference) = self.named.get(&key) {
            self.origin.differs(difference);
        }
        Ok(record)
    }

    /// The key of a job's result. Of one that is found by name, notes how it differs.
    fn find(&mut self, job: &Job) -> Result<Key, String> {
        if let Some(key) = self.store.find_same(job) {
            return Ok(key);
        }
        let key = self.store.find_named(job).ok_or_else(|| self.store.why_missing(job))?;
        let record = self.store.get(&key)?.ok_or("not run yet")?;
        self.named.insert(key.clone(), Difference::between(&record.job, job));
        self.records.insert(key.clone(), record);
        Ok(key)
    }
}
