//! `strata list runs`: what a result store holds.

use std::path::Path;

use serde_json::{Value, json};
use strata_lab::job::Job;
use strata_lab::record::{self, Record};

use crate::sweep;

/// Every run of a store as an object, by name and machine.
///
/// # Errors
/// If there is no store, or one of its files cannot be read.
pub fn rows(folder: &Path) -> Result<Vec<Value>, String> {
    let store = sweep::open(folder, None)?;
    let records = store.keys().filter_map(|key| store.get(key).transpose());
    let mut records: Vec<Record> = records.collect::<Result<_, _>>()?;
    records.sort_by(|one, other| place(&one.job).cmp(&place(&other.job)));
    Ok(records.iter().map(row).collect())
}

fn place(job: &Job) -> impl Ord + '_ {
    (&job.workload, size(job), &job.variant, &job.simulator)
}

fn row(record: &Record) -> Value {
    let job = &record.job;
    let count = |counter| match record.get("run", counter) {
        Some(record::Value::Count(count)) => Some(count),
        _ => None,
    };
    json!({
        "name": job.workload,
        "size": size(job),
        "program": program(job),
        "machine": (!job.variant.is_empty()).then_some(&job.variant),
        "launches": count("launches"),
        "cycles": count("cycles"),
        "thread_instructions": count("thread_instructions"),
        "system": job.system,
        "overrides": job.overrides,
        "command": job.command,
        "simulator": job.simulator,
        "key": job.key().to_string(),
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
