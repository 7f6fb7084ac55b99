//! Comparisons that users ask for: workloads and launch files on systems, with parameters swept.

use strata_workloads::Size;

use crate::grid::{Grid, Mean};
use crate::job::{Job, Kind};
use crate::metric::Metric;
use crate::program::Program;
use crate::question::Answers;
use crate::report::text;
use crate::store::Store;
use crate::variant::Variant;

/// A parameter and the values it is swept over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Path of the parameter, `door.key`.
    pub path: String,
    /// The values, at least one.
    pub values: Vec<String>,
}

impl Sweep {
    /// Parses `door.key=v1,v2,v3`. A value may be a range: `2..8` for each whole number from 2 to 8, `2..8+2` for
    /// every second, `2..64*2` for each twice the one before.
    ///
    /// # Errors
    /// What was found and what was expected.
    pub fn parse(text: &str) -> Result<Sweep, String> {
        let wrong = || format!("--sweep {text}: expected door.key=value,value,...");
        let (path, values) = text.split_once('=').ok_or_else(wrong)?;
        let mut expanded = Vec::new();
        for value in values.split(',').map(str::trim) {
            match range(value) {
                Some(range) => expanded.extend(range.map_err(|error| format!("--sweep {text}: {error}"))?),
                None => expanded.push(value.to_owned()),
            }
        }
        if path.trim().is_empty() || expanded.iter().any(String::is_empty) {
            return Err(wrong());
        }
        Ok(Sweep { path: path.trim().to_owned(), values: expanded })
    }
}

/// Most values of a range.
const RANGE: usize = 256;

/// The values of a range; `None` for a text that is not meant as one.
fn range(text: &str) -> Option<Result<Vec<String>, String>> {
    let (first, rest) = text.split_once("..")?;
    let (last, step) = match rest.find(['+', '*']) {
        Some(at) => (&rest[..at], &rest[at..]),
        None => (rest, "+1"),
    };
    let number = |text: &str| text.parse::<u64>().ok();
    let (first, last, by) = (number(first)?, number(last)?, number(&step[1..])?);
    let expected = || {
        let what = "first..last, first..last+step or first..last*factor";
        Err(format!("found `{text}`, expected a range of at most {RANGE} values: {what}"))
    };
    let is_product = step.starts_with('*');
    if first > last || by < 1 + u64::from(is_product) || (is_product && first == 0) {
        return Some(expected());
    }
    let next = |value: &u64| if is_product { value.checked_mul(by) } else { value.checked_add(by) };
    let values = std::iter::successors(Some(first), next).take_while(|value| *value <= last);
    let values: Vec<String> = values.take(RANGE + 1).map(|value| value.to_string()).collect();
    Some(if values.len() > RANGE { expected() } else { Ok(values) })
}

/// Most parameters that one command can sweep.
const SWEEPS: usize = 2;

/// A comparison to run and show.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What to run: names of workloads, and paths of launch files.
    pub workloads: Vec<String>,
    /// The machines that the workloads run on.
    pub variants: Vec<Variant>,
    /// The metrics to show.
    pub metrics: Vec<Metric>,
    /// Size of the workloads.
    pub size: Size,
}

/// The variants of a machine: every combination of a system and the swept values. The machine's own name
/// stands for the machine without a system.
///
/// # Errors
/// If more parameters are swept than can be shown.
pub fn variants(
    machine: &str,
    systems: &[String],
    sets: &[String],
    sweeps: &[Sweep],
) -> Result<Vec<Variant>, String> {
    if sweeps.len() > SWEEPS {
        return Err(format!("--sweep is given {} times, expected at most {SWEEPS}", sweeps.len()));
    }
    let mut points: Vec<Vec<String>> = vec![vec![]];
    for Sweep { path, values } in sweeps {
        let longer = |point: &Vec<String>| {
            let point = point.clone();
            values.iter().map(move |value| [point.clone(), vec![format!("{path}={value}")]].concat())
        };
        points = points.iter().flat_map(longer).collect();
    }
    let own = vec![machine.to_owned()];
    let mut variants = Vec::new();
    for system in if systems.is_empty() { &own } else { systems } {
        for point in &points {
            let name = std::iter::once(system).chain(point).map(String::as_str).collect::<Vec<_>>().join(" ");
            variants.push(Variant {
                name,
                base: machine.to_owned(),
                system: (system != machine).then(|| system.clone()),
                sets: sets.iter().chain(point).cloned().collect(),
                version: None,
            });
        }
    }
    Ok(variants)
}

impl Comparison {
    /// The jobs that the comparison needs.
    ///
    /// # Errors
    /// An unknown workload or system, or a machine that cannot be built. No job is returned then.
    pub fn jobs(&self, store: &Store) -> Result<Vec<Job>, String> {
        let mut answers = Answers::new(store, self.size);
        let mut jobs = Vec::new();
        let mut kinds: Vec<Kind> = self.metrics.iter().map(|metric| metric.kind).collect();
        kinds.sort();
        kinds.dedup();
        for workload in &self.workloads {
            for variant in &self.variants {
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

    /// Formats the grids for a terminal. With several variants, also shows each metric relative to the first
    /// variant.
    #[must_use]
    pub fn text(&self, grids: &[Grid]) -> String {
        grids
            .iter()
            .flat_map(|grid| [Some(grid.clone()), self.relative(grid)])
            .flatten()
            .map(|grid| text::grid(&grid))
            .collect()
    }

    /// The grid with each row over the first variant's number; `None` if there is no other.
    pub(crate) fn relative(&self, grid: &Grid) -> Option<Grid> {
        if self.variants.len() < 2 {
            return None;
        }
        let mut relative = grid.clone();
        relative.title = format!("{}, over {}", grid.title, self.variants[0].name);
        relative.normalise(0);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_system_meets_every_combination_of_swept_values() {
        let sweeps = [Sweep::parse("l1d.ways=2,4").unwrap(), Sweep::parse("l1d.sets=16,32").unwrap()];
        let variants = variants("m", &["m".into(), "s".into()], &["a.b=1".into()], &sweeps).unwrap();
        let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names.len(), 8);
        assert_eq!(names[1], "m l1d.ways=2 l1d.sets=32");
        assert_eq!(variants[7].system.as_deref(), Some("s"));
        assert_eq!(variants[7].sets, ["a.b=1", "l1d.ways=4", "l1d.sets=32"]);
        assert_eq!(variants[0].system, None);
    }

    #[test]
    fn ranges_are_spelt_out() {
        let values = |text: &str| Sweep::parse(&format!("x={text}")).map(|sweep| sweep.values.join(" "));
        assert_eq!(values("2..5").unwrap(), "2 3 4 5");
        assert_eq!(values("1, 2..8+3 ,16..128*2").unwrap(), "1 2 5 8 16 32 64 128");
        assert_eq!(values("0.5,a..b").unwrap(), "0.5 a..b", "not every dot makes a range");
        for wrong in ["5..2", "1..4+0", "1..4*1", "0..4*2", "0..256", "1..18446744073709551615"] {
            let error = values(wrong).unwrap_err();
            assert!(
                error.contains(&format!("found `{wrong}`, expected a range of at most 256 values")),
                "{error}"
            );
        }
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(Sweep::parse("x").unwrap_err(), "--sweep x: expected door.key=value,value,...");
        assert_eq!(Sweep::parse("x=1,").unwrap_err(), "--sweep x=1,: expected door.key=value,value,...");
        let sweep = Sweep { path: "x".into(), values: vec!["1".into()] };
        let three = [sweep.clone(), sweep.clone(), sweep];
        assert_eq!(
            variants("m", &[], &[], &three).unwrap_err(),
            "--sweep is given 3 times, expected at most 2"
        );
    }
}
