//! `strata compare`: systems or parameter values against each other.

use std::path::PathBuf;

use clap::Args;
use strata_lab::compare::{Comparison, Sweep, variants};
use strata_lab::{job, metric};
use strata_workloads::Size;

use crate::origin::origin;
use crate::sweep::SweepArguments;
use crate::{Finished, print};

/// Arguments of `strata compare`.
#[derive(Args)]
pub struct CompareArguments {
    /// Workloads to run (see `strata list`).
    #[arg(required = true)]
    workloads: Vec<String>,
    /// Systems to lay over the machine (see `strata list systems`). Give the machine's own name to include it
    /// unchanged.
    #[arg(long, value_delimiter = ',', value_name = "A,B,...")]
    systems: Vec<String>,
    /// Machine to model: a built-in name (see `strata list machines`) or a machine file.
    #[arg(long, default_value = "gtx480")]
    machine: String,
    /// Size of the workloads: test, small, paper or stash.
    #[arg(long, default_value = "test")]
    size: String,
    /// Override a value in every variant, as in `l1d.ways=8`. May be repeated.
    #[arg(long = "set", value_name = "DOOR.KEY=VALUE")]
    sets: Vec<String>,
    /// Sweep a parameter over several values, as in `l1d.ways=2,4,8`. May be given twice.
    #[arg(long = "sweep", value_name = "DOOR.KEY=V1,V2,...")]
    sweeps: Vec<String>,
    /// Metric to show: a metric's name or an expression over counters, as in `l1d.fills / l1d.loads`. May be
    /// repeated.
    #[arg(long = "metric", value_name = "METRIC", default_values = ["ipc", "l1d-miss-rate"])]
    metrics: Vec<String>,
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
        arguments.metrics.iter().map(|name| metric::find(&known, name)).collect();
    let sweeps: Result<Vec<Sweep>, String> = arguments.sweeps.iter().map(|text| Sweep::parse(text)).collect();
    let workloads: Result<Vec<String>, String> =
        arguments.workloads.iter().map(|name| Ok(job::find_workload(name)?.name.to_owned())).collect();
    let comparison = Comparison {
        workloads: workloads?,
        variants: variants(&arguments.machine, &arguments.systems, &arguments.sets, &sweeps?)?,
        metrics: metrics?,
        size,
    };
    let mut store = arguments.sweep.open()?;
    let jobs = comparison.jobs(&store)?;
    let failures = arguments.sweep.run(&jobs, &mut store)?;
    let grids = comparison.grids(&store);
    print(&comparison.text(&grids))?;
    if let Some(path) = &arguments.out {
        let page = comparison.page(&grids, &jobs, &store, &origin())?;
        std::fs::write(path, page).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(if failures.is_empty() { Finished::Well } else { Finished::Wrong })
}
