//! Comparisons that users ask for: workloads and launch files on systems, with parameters swept.

use strata_gpu::machine::Machine;
use strata_workloads::Size;

use crate::axes::{Axes, Base};
use crate::factorial::Factors;
use crate::grid::{Cell, Grid, Mean};
use crate::metric::{Kind, Metric};
use crate::program::Program;
use crate::variant::Variant;

/// A comparison to run and show.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What to run: names of workloads, and paths of launch files.
    pub workloads: Vec<String>,
    /// What differs between the variants.
    pub axes: Axes,
    /// The design, if the systems of the axes are its subsets.
    pub factors: Option<Factors>,
    /// The machines that the workloads run on, in the order of the axes.
    pub variants: Vec<Variant>,
    /// What ratios are over.
    pub base: Base,
    /// The metrics to show.
    pub metrics: Vec<Metric>,
    /// Size of the workloads.
    pub size: Size,
}

/// The swept points of a comparison whose machines cannot be, and why, in the order of the variants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impossible(Vec<(usize, String)>);

impl Impossible {
    /// Why a variant cannot be; `None` for one that can.
    #[must_use]
    pub fn reason(&self, variant: usize) -> Option<&str> {
        let place = self.0.binary_search_by_key(&variant, |(variant, _)| *variant).ok()?;
        Some(&self.0[place].1)
    }
}

impl Comparison {
    /// Builds each machine and looks at it. Swept points whose machines cannot be built, or that `look` refuses, are listed, and
    /// the others remain.
    ///
    /// # Errors
    /// A machine that is neither swept nor a subset of a design, or of whose points none can be: its first reason.
    pub fn machines(
        &self,
        mut look: impl FnMut(&Machine) -> Result<(), String>,
    ) -> Result<Impossible, String> {
        let mut impossible = Impossible::default();
        let points = self.axes.points();
        for (system, variants) in self.variants.chunks(points).enumerate() {
            let before = impossible.0.len();
            for (point, variant) in variants.iter().enumerate() {
                if let Err(reason) = variant.machine().and_then(|machine| look(&machine)) {
                    impossible.0.push((system * points + point, reason));
                }
            }
            if self.factors.is_none() && impossible.0.len() - before == variants.len() {
                return Err(impossible.0.swap_remove(before).1);
            }
        }
        if impossible.0.len() == self.variants.len() {
            return Err(impossible.0.swap_remove(0).1);
        }
        Ok(impossible)
    }

    /// The points that cannot be, by name, and why.
    pub fn named<'a>(&'a self, impossible: &'a Impossible) -> impl Iterator<Item = (&'a str, &'a str)> {
        impossible.0.iter().map(|(variant, reason)| (self.variants[*variant].name.as_str(), reason.as_str()))
    }

    /// Takes the first variant that is possible as the base.
    pub fn choose_base(&mut self, impossible: &Impossible) {
        if let Some(first) = (0..self.variants.len()).find(|variant| impossible.reason(*variant).is_none()) {
            self.base = Base::variant(&self.axes, first);
        }
    }

    /// Checks that there is a base for at least one variant.
    ///
    /// # Errors
    /// Why there is none.
    pub fn check_base(&self, impossible: &Impossible) -> Result<(), String> {
        let reason = |variant| impossible.reason(self.base.of(&self.axes, variant));
        match (0..self.variants.len()).map(reason).collect::<Option<Vec<_>>>() {
            Some(reasons) => Err(reasons[0].to_owned()),
            None => Ok(()),
        }
    }

    /// The kinds of measurement that the metrics are computed from, each once.
    #[must_use]
    pub fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = self.metrics.iter().map(|metric| metric.kind).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    }

    /// The numbers that are wanted: each workload with each variant whose machine can be.
    pub fn points<'a>(
        &'a self,
        impossible: &'a Impossible,
    ) -> impl Iterator<Item = (&'a str, &'a Variant)> + 'a {
        let is_possible = |place: &usize| impossible.reason(*place).is_none();
        let possible =
            move || (0..self.variants.len()).filter(is_possible).map(|place| &self.variants[place]);
        self.workloads
            .iter()
            .flat_map(move |workload| possible().map(move |variant| (workload.as_str(), variant)))
    }

    /// One grid for each metric. `value` finds the number of a workload on a variant.
    pub fn grids(&self, mut value: impl FnMut(&Metric, &str, &Variant) -> Cell) -> Vec<Grid> {
        let mut grid = |metric: &Metric| {
            let mut row = |workload: &String| {
                self.variants.iter().map(|variant| value(metric, workload, variant)).collect()
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
        self.metrics.iter().map(&mut grid).collect()
    }

    /// What each system of a design does to a grid's numbers; `None` without a design.
    #[must_use]
    pub fn effects(&self, grid: &Grid) -> Option<Grid> {
        self.factors.as_ref().map(|factors| factors.effects(grid))
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
