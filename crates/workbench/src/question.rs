//! What a comparison is asked, as command-line options.

use clap::Args;
use strata_engine::config::did_you_mean;
use strata_gpu::machine::Machine;
use strata_measure::axes::{Axes, Base, Sweep, split_set};
use strata_measure::compare::{Comparison, Impossible};
use strata_measure::factorial::Factors;
use strata_measure::metric::{self, Known};
use strata_measure::program::{self, Program};
use strata_workloads::Size;

use crate::once;

/// Programs, the machines that they run on, and what is asked of each run.
#[derive(Args)]
pub struct Question {
    /// Programs to run: workloads (see `list workloads`), launch files (`*.toml`), and folders of launch files.
    #[arg(required = true)]
    workloads: Vec<String>,
    /// Systems to lay over the machine: built-in names (see `list systems`) or system files. Give the machine's own name
    /// to include it unchanged.
    #[arg(long, value_delimiter = ',', value_name = "A,B,...")]
    systems: Vec<String>,
    /// Lay every subset of these systems over the machine, and show what each brings: its effect, the metric with it over that
    /// without it, and the interactions of each two. Subsets whose machine cannot be are listed with the reason.
    #[arg(long, value_delimiter = ',', value_name = "A,B,...", conflicts_with_all = ["systems", "sweeps"])]
    factorial: Vec<String>,
    /// Machine to model: a built-in name (see `list machines`) or a machine file.
    #[arg(long, default_value = "gtx480")]
    machine: String,
    /// Size of the workloads: test, small or paper; suite, stash or morpheus where they have them.
    #[arg(long, default_value = "test")]
    size: String,
    /// Override a value in every variant, as in `l1d.ways=8`, or in those with a system, as in `l1-sram:l1d.ways=8`. May be
    /// repeated.
    #[arg(long = "set", value_name = "[SYSTEM:]DOOR.KEY=VALUE")]
    sets: Vec<String>,
    /// Run this version of the workloads, or with a system, as in `stash:stash-g` (see `list workloads`). May be repeated; the
    /// last that concerns a variant counts.
    #[arg(long = "in-version", value_name = "[SYSTEM:]VERSION")]
    versions: Vec<String>,
    /// Sweep a parameter over several values, as in `l1d.ways=2,4,8`, or over ranges, as in `2..8`, `2..8+2` and
    /// `2..64*2`. May be given twice.
    #[arg(long = "sweep", value_name = "DOOR.KEY=V1,V2,...")]
    sweeps: Vec<String>,
    /// What ratios are over: a system, a swept value as in `l1d.ways=2`, or both, separated by a space. What is left out
    /// stays the same: `--base l1-sram` compares each variant with L1-SRAM at the same swept values. Default: the first
    /// variant.
    #[arg(long, value_name = "NAME")]
    base: Option<String>,
    /// Metric to show: a metric's name or an expression over counters, as in `l1d.fills / l1d.loads`. May be
    /// repeated.
    #[arg(long = "metric", value_name = "METRIC", default_values = ["ipc", "l1d-miss-rate"])]
    metrics: Vec<String>,
}

impl Question {
    /// The comparison that is asked for, and the swept points that cannot be. Builds each machine once and shows it to
    /// `look`.
    ///
    /// # Errors
    /// A mistake in the question: an unknown workload, system, metric or base, or a machine that cannot be built.
    pub fn ask(&self, mut look: impl FnMut(&Machine)) -> Result<(Comparison, Impossible), String> {
        let size: Size = self.size.parse().map_err(|error| format!("--size: {error}"))?;
        let common = metric::common();
        let metrics: Result<Vec<_>, String> =
            once(&self.metrics).into_iter().map(|name| metric::find(&common, name)).collect();
        let workloads = program::expand(&self.workloads)?;
        for workload in &workloads {
            Program::find(workload)?;
        }
        let factors = match &self.factorial[..] {
            [] => None,
            names => Some(Factors::new(names.to_vec()).map_err(|error| format!("--factorial: {error}"))?),
        };
        let systems = match &factors {
            Some(factors) => factors.systems(&self.machine),
            None => once(&self.systems).into_iter().cloned().collect(),
        };
        let sweeps = sweeps(&self.sweeps)?;
        let axes = Axes::new(&self.machine, systems, sweeps)?;
        self.check_systems(&axes)?;
        let variants = axes.variants(&self.machine, &self.sets, &self.versions);
        for variant in &variants {
            for workload in &workloads {
                Program::find(&variant.program(workload))?;
            }
        }
        let base = match &self.base {
            None => Base::first(&axes),
            Some(name) => Base::parse(name, &axes)?,
        };
        let mut comparison = Comparison { workloads, variants, axes, factors, base, metrics: metrics?, size };
        let mut known = Known::default();
        let impossible = comparison.machines(|machine| {
            look(machine);
            known.add(machine)
        })?;
        match &self.base {
            None => comparison.choose_base(&impossible),
            Some(name) => {
                comparison.check_base(&impossible).map_err(|reason| format!("--base {name}: {reason}"))?;
            }
        }
        for metric in &comparison.metrics {
            known.check(metric).map_err(|error| format!("--metric {}: {error}", metric.name))?;
        }
        Ok((comparison, impossible))
    }

    /// Checks that overrides and versions are of systems that are compared.
    fn check_systems(&self, axes: &Axes) -> Result<(), String> {
        let mut known: Vec<&str> = axes.systems.iter().flat_map(|system| system.split('+')).collect();
        known.extend(axes.systems.iter().map(String::as_str));
        let sets = self.sets.iter().map(|set| ("--set", set));
        let versions = self.versions.iter().map(|version| ("--in-version", version));
        for (option, text) in sets.chain(versions) {
            if let (Some(system), _) = split_set(text)
                && !known.contains(&system)
            {
                let alike = did_you_mean(system, known.iter().copied());
                return Err(format!(
                    "{option} {text}: found `{system}`, expected a system that is compared{alike}"
                ));
            }
        }
        Ok(())
    }
}

/// The swept parameters. A key given twice is one parameter with the values of both, each once.
fn sweeps(texts: &[String]) -> Result<Vec<Sweep>, String> {
    let mut sweeps: Vec<Sweep> = Vec::new();
    for text in texts {
        let Sweep { path, values } = Sweep::parse(text)?;
        match sweeps.iter_mut().find(|sweep| sweep.path == path) {
            Some(sweep) => sweep.values.extend(values),
            None => sweeps.push(Sweep { path, values }),
        }
    }
    for sweep in &mut sweeps {
        sweep.values = once(&sweep.values).into_iter().cloned().collect();
    }
    Ok(sweeps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_given_twice_is_swept_once() {
        let texts = ["l1d.ways=2,4,2", "l1d.sets=16", "l1d.ways=4,8"].map(str::to_owned);
        let swept = sweeps(&texts).unwrap();
        let values: Vec<(&str, String)> =
            swept.iter().map(|sweep| (sweep.path.as_str(), sweep.values.join(" "))).collect();
        assert_eq!(values, [("l1d.ways", "2 4 8".to_owned()), ("l1d.sets", "16".to_owned())]);
    }
}
