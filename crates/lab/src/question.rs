//! Metrics of workloads on variants: which jobs answer them, and the answers in a store.

use std::collections::{BTreeMap, BTreeSet};

use strata_workloads::Size;
use toml::Table;

use crate::job::{self, Job, Key, Kind};
use crate::metric::Metric;
use crate::record::Record;
use crate::store::Store;
use crate::variant::Variant;

/// A number, or why there is none.
pub type Cell = Result<f64, String>;

/// Looks numbers up in a store.
pub struct Answers<'a> {
    store: &'a Store,
    size: Size,
    machines: BTreeMap<String, Result<Table, String>>,
    profiles: BTreeMap<String, Result<Job, String>>,
    keys: BTreeMap<(Kind, String, String), Result<Key, String>>,
    records: BTreeMap<Key, Record>,
    versions: BTreeSet<String>,
}

impl<'a> Answers<'a> {
    /// Answers at one size. Variants of one name must be one variant.
    #[must_use]
    pub fn new(store: &'a Store, size: Size) -> Self {
        Self {
            store,
            size,
            machines: BTreeMap::new(),
            profiles: BTreeMap::new(),
            keys: BTreeMap::new(),
            records: BTreeMap::new(),
            versions: BTreeSet::new(),
        }
    }

    /// The versions of the simulator whose runs were looked up since this was last asked.
    pub fn take_versions(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.versions)
    }

    /// The size.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    /// The job that measures a metric.
    ///
    /// # Errors
    /// An unknown workload or system, or a machine that cannot be built.
    pub fn job(&mut self, kind: Kind, workload: &str, variant: &Variant) -> Result<Job, String> {
        let machine = match kind {
            Kind::Profile => None,
            Kind::Timing => {
                let resolve = || variant.machine().map(|machine| machine.table().clone());
                Some(self.machines.entry(variant.name.clone()).or_insert_with(resolve).clone()?)
            }
        };
        // Its inputs may have to be made to be hashed: once.
        let profile = match self.profiles.get(workload) {
            Some(profile) => profile.clone(),
            None => {
                let profile = Job::profile(workload, self.size);
                self.profiles.insert(workload.to_owned(), profile.clone());
                profile
            }
        }?;
        match machine {
            None => Ok(profile),
            Some(_) => Ok(Job { kind, variant: variant.name.clone(), machine, ..profile }),
        }
    }

    /// A metric's value.
    ///
    /// # Errors
    /// Why there is none: no such job, not run, or a counter that it lacks.
    pub fn value(&mut self, metric: &Metric, workload: &str, variant: &Variant) -> Cell {
        let record = self.record(metric, workload, variant)?;
        metric.expression.evaluate(record)
    }

    /// Whether a run that has finished has no such number: its metric divides by zero.
    pub fn is_undefined(&mut self, metric: &Metric, workload: &str, variant: &Variant) -> bool {
        self.record(metric, workload, variant).is_ok_and(|record| metric.expression.is_undefined(record))
    }

    fn record(&mut self, metric: &Metric, workload: &str, variant: &Variant) -> Result<&Record, String> {
        if self.store.keys().next().is_none() {
            job::find_workload(workload)?;
            return Err("not run yet".into());
        }
        let name = if metric.kind == Kind::Profile { String::new() } else { variant.name.clone() };
        let asked = (metric.kind, workload.to_owned(), name);
        let key = match self.keys.get(&asked) {
            Some(key) => key.clone(),
            None => {
                let job = self.job(metric.kind, workload, variant);
                let key = job.and_then(|job| self.store.find(&job).ok_or_else(|| "not run yet".into()));
                self.keys.insert(asked, key.clone());
                key
            }
        }?;
        if !self.records.contains_key(&key) {
            let record = self.store.get(&key)?.ok_or("not run yet")?;
            self.records.insert(key.clone(), record);
        }
        let record = &self.records[&key];
        if !self.versions.contains(&record.job.simulator) {
            self.versions.insert(record.job.simulator.clone());
        }
        Ok(record)
    }
}
