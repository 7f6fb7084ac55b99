//! `strata list runs`: what a result store holds.

use std::path::Path;

use serde_json::{Value, json};
use strata_lab::job::{Job, Key};
use strata_lab::store::Run;

use crate::sweep;

/// Every run of a store as an object, by name and machine. Says which jobs failed.
///
/// # Errors
/// If there is no store, or it cannot be read.
pub fn rows(folder: &Path) -> Result<Vec<Value>, String> {
    let store = sweep::open(folder, None)?;
    for failure in store.failures() {
        eprintln!("failed: {}: {}", failure.job, failure.reason);
    }
    let mut runs: Vec<(&Key, &Run)> = store.runs().collect();
    runs.sort_by(|(_, one), (_, other)| place(&one.job).cmp(&place(&other.job)));
    Ok(runs.into_iter().map(row).collect())
}

fn place(job: &Job) -> impl Ord + '_ {
    (&job.workload, size(job), &job.variant, &job.simulator)
}

fn row((key, run): (&Key, &Run)) -> Value {
    let job = &run.job;
    json!({
        "name": job.workload,
        "size": size(job),
        "program": program(job),
        "machine": (!job.variant.is_empty()).then_some(&job.variant),
        "launches": run.launches,
        "cycles": run.cycles,
        "thread_instructions": run.thread_instructions,
        "system": job.system,
        "overrides": job.overrides,
        "command": job.command,
        "simulator": job.simulator,
        "key": key.to_string(),
    })
}

/// The size of a workload, which alone has several.
fn size(job: &Job) -> Option<&'static str> {
    (program(job) == "workload").then(|| job.size.name())
}

/// What kind of program ran.
fn program(job: &Job) -> &'static str {
    match &job.launch_file {
        _ if job.executed => "CUDA program",
        Some(_) => "launch file",
        None => "workload",
    }
}
