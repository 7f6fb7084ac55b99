//! `strata compare`.

use std::path::PathBuf;

use clap::Args;
use strata_lab::compare::{Comparison, Sweep, variants};
use strata_lab::{job, metric};
use strata_workloads::Size;

use crate::sweep::SweepArguments;
use crate::{Finished, print};

/// Arguments of `strata compare`.
#[derive(Args)]
pub struct CompareArguments {
    /// Workloads (see `strata list`).
    #[arg(required = true)]
    workloads: Vec<String>,
    /// Systems laid over the machine (see `strata list systems`); the machine's own name is the machine as it is.
    #[arg(long, value_delimiter = ',', value_name = "A,B,...")]
    systems: Vec<String>,
    /// The machine: a name (see `strata list machines`) or a machine file.
    #[arg(long, default_value = "gtx480")]
    machine: String,
    /// The workloads' size: test, small, paper or stash.
    #[arg(long, default_value = "test")]
    size: String,
    /// Replace a value everywhere, as in `l1d.ways=8`. May be given several times.
    #[arg(long = "set", value_name = "DOOR.KEY=VALUE")]
    sets: Vec<String>,
    /// Let a value take several, as in `l1d.ways=2,4,8`. May be given twice.
    #[arg(long = "sweep", value_name = "DOOR.KEY=V1,V2,...")]
    sweeps: Vec<String>,
    /// What to show: a metric's name or an expression over counters, as in `l1d.fills / l1d.loads`. May be given
    /// several times.
    #[arg(long = "metric", value_name = "METRIC", default_values = ["ipc", "l1d-miss-rate"])]
    metrics: Vec<String>,
    /// Write a page with tables and drawings.
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    #[command(flatten)]
    sweep: SweepArguments,
}

/// Runs what is missing and reports.
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
        std::fs::write(path, comparison.html(&grids))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(if failures.is_empty() { Finished::Well } else { Finished::Wrong })
}
