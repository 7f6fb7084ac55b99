//! What there is to choose from, as JSON objects: workloads, machines, systems, doors, policies, metrics, keys of
//! machines.

use serde_json::{Value, json};
use strata_engine::config::Kind;
use strata_gpu::machine::system::{self, System};
use strata_gpu::machine::{self, MachineKey, Range};
use strata_workloads::{Input, Kernel, Workload};

use crate::metric;

/// The built-in workloads, with their sizes and what those take.
#[must_use]
pub fn workloads() -> Vec<Value> {
    strata_workloads::all().iter().map(workload).collect()
}

/// The built-in machines.
#[must_use]
pub fn machines() -> Vec<Value> {
    let of =
        |builtin: &machine::Builtin| json!({ "name": builtin.name, "description": builtin.description() });
    machine::builtin().iter().map(of).collect()
}

/// The built-in systems.
#[must_use]
pub fn systems() -> Vec<Value> {
    system::builtin().iter().map(|builtin| about(builtin.name)).collect()
}

/// The doors, and the designs that can stand behind each.
#[must_use]
pub fn doors() -> Vec<Value> {
    let doors = machine::doors();
    let of =
        |door: &machine::Door| json!({ "name": door.name, "between": door.between, "choices": door.choices });
    doors.iter().map(of).collect()
}

/// The policies, each with the key of a machine file that chooses it.
#[must_use]
pub fn policies() -> Vec<Value> {
    let of = |key: machine::PolicyKey| {
        let path = key.key;
        key.policies.into_iter().map(move |policy| {
            json!({ "key": path, "name": policy.name, "value": policy.value, "description": policy.meaning })
        })
    };
    machine::policies().into_iter().flat_map(of).collect()
}

/// The built-in metrics.
#[must_use]
pub fn metrics() -> Vec<Value> {
    metric::common().values().map(of_metric).collect()
}

fn of_metric(metric: &metric::Metric) -> Value {
    json!({
        "name": metric.name,
        "title": metric.title,
        "unit": metric.unit,
        "expression": metric.expression.to_string(),
    })
}

fn about(name: &str) -> Value {
    let about = System::load(name).expect("a system that comes along can be read").about;
    json!({ "name": about.name, "paper": about.paper.unwrap_or_default(), "description": about.description })
}

/// All that is known of a workload before it runs.
fn workload(workload: &Workload) -> Value {
    let kernel = |kernel: &Kernel| json!({ "name": kernel.entry, "original": kernel.original });
    let input = |input: &Input| {
        let measured = workload.measured(input.size);
        json!({
            "size": input.size.name(),
            "input": input.words,
            "source": input.origin.map(|origin| origin.source),
            "piece": input.origin.map(|origin| origin.piece.words()),
            "footprint_bytes": measured.as_ref().map(|measured| measured.footprint_bytes),
            "launches": measured.as_ref().map(|measured| measured.launches),
            "warp_instructions": measured.as_ref().map(|measured| measured.warp_instructions),
            "thread_instructions": measured.as_ref().map(|measured| measured.thread_instructions),
        })
    };
    json!({
        "name": workload.name,
        "suite": workload.suite,
        "papers": workload.papers,
        "versions": workload.versions().map(Workload::version).collect::<Vec<_>>(),
        "sizes": workload.inputs.iter().map(|input| input.size.name()).collect::<Vec<_>>(),
        "description": workload.description,
        "kernels": workload.kernels.iter().map(kernel).collect::<Vec<_>>(),
        "differences": workload.differences,
        "inputs": workload.inputs.iter().map(input).collect::<Vec<_>>(),
    })
}

/// A key as JSON. What it lacks is null.
#[must_use]
pub fn key(key: &MachineKey) -> Value {
    let facts = &key.facts;
    let choices: Vec<Value> =
        facts.choices.iter().map(|(name, meaning)| json!({ "value": name, "meaning": meaning })).collect();
    json!({
        "key": key.path,
        "value": key.value,
        "source": key.source,
        "range": key.range.as_ref().map(range),
        "meaning": facts.meaning,
        "type": kind(facts.kind),
        "unit": Some(&facts.unit).filter(|unit| !unit.is_empty()),
        "least": facts.least,
        "above": facts.is_above,
        "most": facts.most,
        "choices": choices,
    })
}

/// The range of an assumed value as JSON.
fn range(range: &Range) -> Value {
    json!({ "values": range.span.to_string(), "because": range.because, "together": range.together })
}

/// The type of a value, in a user's words.
fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Whole => "whole number",
        Kind::Number => "number",
        Kind::Flag => "true or false",
        Kind::List => "list",
    }
}
