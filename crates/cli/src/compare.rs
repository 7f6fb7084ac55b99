//! `strata compare`: systems or parameter values against each other.

use std::path::{Path, PathBuf};

use clap::Args;
use strata_gpu::machine::Machine;
use strata_lab::axes::{Axes, Base, Sweep};
use strata_lab::compare::Comparison;
use strata_lab::grid::Grid;
use strata_lab::metric::{self, Known};
use strata_lab::program::{self, Program};
use strata_workloads::Size;

use crate::files::Files;
use crate::origin::origin;
use crate::output::Output;
use crate::progress::{PREPARING, during};
use crate::sweep::SweepArguments;
use crate::{Finished, grid, numbers, once, print, table};

/// Arguments of `strata compare`.
#[derive(Args)]
pub struct CompareArguments {
    /// Programs to run: workloads (see `strata list`), launch files (`*.toml`), and folders of launch files.
    #[arg(required = true)]
    workloads: Vec<String>,
    /// Systems to lay over the machine (see `strata list systems`). Give the machine's own name to include it
    /// unchanged.
    #[arg(long, value_delimiter = ',', value_name = "A,B,...")]
    systems: Vec<String>,
    /// Machine to model: a built-in name (see `strata list machines`) or a machine file.
    #[arg(long, default_value = "gtx480")]
    machine: String,
    /// Size of the workloads: test, small or paper; stash or morpheus where they have them.
    #[arg(long, default_value = "test")]
    size: String,
    /// Override a value in every variant, as in `l1d.ways=8`. May be repeated.
    #[arg(long = "set", value_name = "DOOR.KEY=VALUE")]
    sets: Vec<String>,
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
    /// Write the numbers as CSV to this file: a line for each number, with its workload, system, swept values and metric;
    /// `-` for standard output in place of the tables.
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// Write the numbers as JSON to this file; `-` for standard output in place of the tables.
    #[arg(long, value_name = "FILE.json", conflicts_with = "csv")]
    json: Option<PathBuf>,
    /// Write an HTML page with tables and charts to this file.
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    #[command(flatten)]
    sweep: SweepArguments,
}

/// Runs the jobs that the store lacks, then prints the comparison.
///
/// # Errors
/// A mistake in the question (an unknown workload, system or metric), or a store that cannot be used.
pub fn compare(arguments: &CompareArguments) -> Result<Finished, String> {
    let size: Size = arguments.size.parse().map_err(|error| format!("--size: {error}"))?;
    let known = metric::common();
    let metrics: Result<Vec<_>, String> =
        once(&arguments.metrics).into_iter().map(|name| metric::find(&known, name)).collect();
    let workloads = program::expand(&arguments.workloads)?;
    for workload in &workloads {
        Program::find(workload)?;
    }
    let systems: Vec<String> = once(&arguments.systems).into_iter().cloned().collect();
    let sweeps = sweeps(&arguments.sweeps)?;
    let axes = Axes::new(&arguments.machine, systems, sweeps)?;
    let base = match &arguments.base {
        None => Base::first(&axes),
        Some(name) => Base::parse(name, &axes)?,
    };
    let mut comparison = Comparison {
        workloads,
        variants: axes.variants(&arguments.machine, &arguments.sets),
        axes,
        base,
        metrics: metrics?,
        size,
    };
    let (mut known, mut files) = (Known::default(), Files::new());
    let look = |machine: &Machine| {
        files = std::mem::take(&mut files).reads_machine(machine);
        known.add(machine)
    };
    let impossible = during(PREPARING, || comparison.machines(look))?;
    match &arguments.base {
        None => comparison.choose_base(&impossible),
        Some(name) => {
            comparison.check_base(&impossible).map_err(|reason| format!("--base {name}: {reason}"))?;
        }
    }
    for metric in &comparison.metrics {
        known.check(metric).map_err(|error| format!("--metric {}: {error}", metric.name))?;
    }
    with_files_of(arguments, &comparison, files)?.check()?;
    for (point, reason) in comparison.named(&impossible) {
        eprintln!("left out: {point}: {reason}");
    }
    let file = |path: &Option<PathBuf>| {
        path.as_deref().filter(|path| *path != Path::new("-")).map(Output::new).transpose()
    };
    let (mut csv, mut json, mut out) = (file(&arguments.csv)?, file(&arguments.json)?, file(&arguments.out)?);
    let mut store = arguments.sweep.open()?;
    let jobs = during(PREPARING, || comparison.jobs(&store, &impossible))?;
    let swept = arguments.sweep.run(&jobs, &mut store)?;
    if swept.left > 0 {
        return Ok(Finished::Interrupted);
    }
    if arguments.sweep.only_writes() {
        return Ok(Finished::Well);
    }
    let grids = during("reading the results", || comparison.grids(&store));
    match (&mut csv, &mut json) {
        (Some(file), _) => file.write(&numbers::csv(&comparison, &grids))?,
        (_, Some(file)) => file.write(&numbers::json(&comparison, &grids))?,
        _ => {}
    }
    match (&arguments.csv, &arguments.json) {
        (Some(path), _) if path == Path::new("-") => print(&numbers::csv(&comparison, &grids))?,
        (_, Some(path)) if path == Path::new("-") => print(&numbers::json(&comparison, &grids))?,
        _ => print(&tables(&comparison, &grids))?,
    }
    if let Some(out) = &mut out {
        out.write(&during("writing the page", || comparison.page(&grids, &jobs, &store, &origin()))?)?;
    }
    Ok(if swept.failures.is_empty() { Finished::Well } else { Finished::Wrong })
}

/// Adds the files of the programs, and those that the command writes.
fn with_files_of(
    arguments: &CompareArguments,
    comparison: &Comparison,
    mut files: Files,
) -> Result<Files, String> {
    for program in &comparison.workloads {
        if let Program::LaunchFile(path, file) = Program::find(program)? {
            files = files.reads("the launch file", &path).reads_launch_file(&file);
        }
    }
    let CompareArguments { csv, json, out, .. } = arguments;
    let files = files.writes("--csv", csv.as_deref()).writes("--json", json.as_deref());
    Ok(files.writes("--out", out.as_deref()))
}

/// Each metric as a table, and with several variants also over the base.
fn tables(comparison: &Comparison, grids: &[Grid]) -> String {
    let all = grids.iter().flat_map(|grid| [Some(grid.clone()), comparison.relative(grid)]).flatten();
    let tables: Vec<String> = all.map(|grid| grid::text(&grid, &comparison.axes, table::width())).collect();
    tables.join("\n")
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
