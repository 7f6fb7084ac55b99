//! Refuses names that mean nothing outside a paper's file, before any job runs.

use strata_engine::config::did_you_mean;
use strata_gpu::machine::Machine;
use strata_workloads::Size;

use super::{Figure, FigureJob, List, Paper, Table};
use crate::claims;
use crate::metric::{self, Known};
use crate::program::Program;
use crate::variant::Variant;

impl Paper {
    /// Checks that every workload, machine, system, override and counter that the paper names exists, and that
    /// its claims can be measured.
    ///
    /// # Errors
    /// The first that does not, with file and key.
    pub fn check_names(&self) -> Result<(), String> {
        let of_file = |error: String| format!("{}: {error}", self.file);
        self.check_workloads().map_err(of_file)?;
        Machine::load(&self.machine, &[]).map_err(|error| of_file(format!("machine: {error}")))?;
        let mut known = Known::default();
        for name in self.systems.keys() {
            let of_system = |error: String| of_file(format!("systems.{name}: {error}"));
            for variant in self.setup(name, None).map_err(of_system)?.machines() {
                self.check_version(&variant).map_err(of_system)?;
                let added = variant.machine().and_then(|machine| known.add(&machine));
                added.map_err(of_system)?;
            }
        }
        claims::check(self)?;
        self.check_elsewhere().map_err(of_file)?;
        let common = metric::common();
        for (name, metric) in self.metrics.iter().filter(|(name, metric)| common.get(*name) != Some(metric)) {
            known.check(metric).map_err(|error| of_file(format!("metrics.{name}: {error}")))?;
        }
        for list in &self.lists {
            for metric in List::new(self, list).map_err(of_file)?.metrics() {
                let of_list = |error| of_file(format!("table {}: {}: {error}", list.id, metric.name));
                known.check(metric).map_err(of_list)?;
            }
        }
        Ok(())
    }

    /// Some workload of the paper must have the version that a system names.
    fn check_version(&self, variant: &Variant) -> Result<(), String> {
        let Some(version) = &variant.version else { return Ok(()) };
        let has_it = |name: &str| strata_workloads::find(&variant.program(name)).is_some();
        if self.named_workloads().any(|(_, name)| has_it(name)) {
            return Ok(());
        }
        Err(format!("version: none of the paper's workloads has a version `{version}`"))
    }

    /// Checks that every workload has a size.
    ///
    /// # Errors
    /// The first that has not, with file and key.
    pub fn check_size(&self, size: Size) -> Result<(), String> {
        for (key, name) in self.named_workloads() {
            let Some(workload) = strata_workloads::find(name) else { continue };
            if workload.input(size).is_none() {
                let known: Vec<&str> = workload.inputs.iter().map(|input| input.size.name()).collect();
                let (file, known) = (&self.file, known.join(", "));
                return Err(format!("{file}: {key}: `{name}` has no size `{size}`, expected one of {known}"));
            }
        }
        Ok(())
    }

    /// Every workload that the paper names, with the key that names it.
    fn named_workloads(&self) -> impl Iterator<Item = (String, &str)> {
        let of_sets = self.workloads.iter().flat_map(|(set, names)| {
            names.iter().map(move |name| (format!("workloads.{set}"), name.as_str()))
        });
        let of_lists =
            self.lists.iter().map(|list| (format!("table {}: workload", list.id), list.workload.as_str()));
        of_sets.chain(of_lists)
    }

    fn check_workloads(&self) -> Result<(), String> {
        for (key, name) in self.named_workloads() {
            if strata_workloads::find(name).is_some() {
                continue;
            }
            if name.ends_with(".toml") {
                Program::find(name).map_err(|error| format!("{key}: {error}"))?;
                continue;
            }
            let alike = did_you_mean(name, strata_workloads::all().iter().map(|workload| workload.name));
            return Err(format!("{key}: no workload `{name}`{alike}, `strata list workloads` shows all"));
        }
        Ok(())
    }

    /// Builds the machines that differ from those of the systems: on another machine, or with other values.
    fn check_elsewhere(&self) -> Result<(), String> {
        let mut built: Vec<Variant> = Vec::new();
        let mut check = |key: String, jobs: Vec<FigureJob<'_>>| {
            for variant in jobs.into_iter().map(|job| job.variant) {
                let is_of_system = variant.base == self.machine && self.systems.contains_key(&variant.name);
                if !is_of_system && !built.contains(&variant) {
                    variant.machine().map_err(|error| format!("{key}: {error}"))?;
                    built.push(variant);
                }
            }
            Ok::<_, String>(())
        };
        for figure in &self.figures {
            check(format!("figure {}", figure.id), Figure::new(self, figure)?.jobs())?;
        }
        for table in &self.tables {
            check(format!("table {}", table.id), Table::new(self, table)?.jobs())?;
        }
        for (id, text) in &self.measured {
            check(format!("measured.\"{id}\""), claims::Measurement::new(self, text)?.jobs())?;
        }
        for text in &self.sensitivities {
            check(format!("sensitivity {}", text.id), claims::sensitivity::jobs(self, text)?)?;
        }
        for text in &self.statements {
            check(format!("statement `{}`", text.says), claims::statement::jobs(self, text)?)?;
        }
        Ok(())
    }
}
