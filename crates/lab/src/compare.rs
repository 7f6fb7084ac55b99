//! Comparisons that users ask for: workloads and launch files on systems, with parameters swept.

use std::collections::BTreeMap;

use strata_gpu::machine::Machine;
use strata_workloads::Size;

use crate::axes::{Axes, Base};
use crate::grid::{Grid, Mean};
use crate::job::{Job, Kind};
use crate::metric::Metric;
use crate::program::Program;
use crate::question::Answers;
use crate::store::Store;
use crate::variant::Variant;

/// A comparison to run and show.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What to run: names of workloads, and paths of launch files.
    pub workloads: Vec<String>,
    /// What differs between the variants.
    pub axes: Axes,
    /// The machines that the workloads run on, in the order of the axes.
    pub variants: Vec<Variant>,
    /// What ratios are over.
    pub base: Base,
    /// The metrics to show.
    pub metrics: Vec<Metric>,
    /// Size of the workloads.
    pub size: Size,
}

/// The machines of a comparison.
#[derive(Debug)]
pub struct Machines {
    /// Those that can be built.
    pub possible: Vec<Machine>,
    /// Names of the swept points that cannot be, and why.
    pub impossible: BTreeMap<String, String>,
}

impl Comparison {
    /// Builds the machines. Swept points that cannot be are listed, and the others remain.
    ///
    /// # Errors
    /// A machine that is not swept, or of whose points none can be: its first reason.
    pub fn machines(&self) -> Result<Machines, String> {
        let (mut possible, mut impossible) = (Vec::new(), BTreeMap::new());
        for points in self.variants.chunks(self.axes.points()) {
            let before = possible.len();
            let mut first = None;
            for variant in points {
                match variant.machine() {
                    Ok(machine) => possible.push(machine),
                    Err(reason) => {
                        first.get_or_insert_with(|| reason.clone());
                        impossible.insert(variant.name.clone(), reason);
                    }
                }
            }
            if let Some(reason) = first.filter(|_| possible.len() == before) {
                return Err(reason);
            }
        }
        Ok(Machines { possible, impossible })
    }

    /// Takes the first variant that is possible as the base.
    pub fn choose_base(&mut self, machines: &Machines) {
        let is_possible = |variant: &Variant| !machines.impossible.contains_key(&variant.name);
        if let Some(first) = self.variants.iter().position(is_possible) {
            self.base = Base::variant(&self.axes, first);
        }
    }

    /// Checks that there is a base for at least one variant.
    ///
    /// # Errors
    /// Why there is none.
    pub fn check_base(&self, machines: &Machines) -> Result<(), String> {
        let reason = |variant| {
            let base = &self.variants[self.base.of(&self.axes, variant)].name;
            machines.impossible.get(base)
        };
        match (0..self.variants.len()).map(reason).collect::<Option<Vec<_>>>() {
            Some(reasons) => Err(reasons[0].clone()),
            None => Ok(()),
        }
    }

    /// The jobs that the comparison needs, but for those on machines that cannot be.
    ///
    /// # Errors
    /// An unknown workload or system. No job is returned then.
    pub fn jobs(&self, store: &Store, machines: &Machines) -> Result<Vec<Job>, String> {
        let mut answers = Answers::new(store, self.size);
        let mut jobs = Vec::new();
        let mut kinds: Vec<Kind> = self.metrics.iter().map(|metric| metric.kind).collect();
        kinds.sort();
        kinds.dedup();
        for workload in &self.workloads {
            for variant in
                self.variants.iter().filter(|variant| !machines.impossible.contains_key(&variant.name))
            {
                for kind in &kinds {
                    jobs.push(answers.job(*kind, workload, variant)?);
                }
            }
        }
        Ok(jobs)
    }

    /// One grid for each metric.
    #[must_use]
    pub fn grids(&self, store: &Store) -> Vec<Grid> {
        let mut answers = Answers::new(store, self.size);
        let grid = |metric: &Metric| {
            let mut row = |workload: &String| {
                self.variants.iter().map(|variant| answers.value(metric, workload, variant)).collect()
            };
            let unit = if metric.unit.is_empty() { String::new() } else { format!(" ({})", metric.unit) };
            Grid {
                title: format!("{}{unit}", metric.title),
                rows: labels(&self.workloads),
                columns: self.variants.iter().map(|variant| variant.name.clone()).collect(),
                cells: self.workloads.iter().map(&mut row).collect(),
                means: vec![],
            }
        };
        self.metrics.iter().map(grid).collect()
    }

    /// The grid with each number over the base's; `None` if there is only one variant.
    #[must_use]
    pub fn relative(&self, grid: &Grid) -> Option<Grid> {
        if self.variants.len() < 2 {
            return None;
        }
        let mut relative = grid.clone();
        relative.title = format!("{}, over {}", grid.title, self.base.title(&self.axes));
        relative.normalise_by(|variant| self.base.of(&self.axes, variant));
        // Ratios may be taken to any system here, and only the geometric mean does not depend on which.
        relative.add_mean(Mean::Geometric);
        Some(relative)
    }
}

/// Names of rows: the programs' own names, or, where two are called the same, what they were asked for by.
fn labels(workloads: &[String]) -> Vec<String> {
    let name =
        |asked: &String| Program::find(asked).map_or(asked.clone(), |program| program.name().to_owned());
    let names: Vec<String> = workloads.iter().map(name).collect();
    let is_alone = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    let label = |(name, asked): (&String, &String)| if is_alone(name) { name } else { asked }.clone();
    names.iter().zip(workloads).map(label).collect()
}
