//! What limits a program, as JSON. Keys are stable; new ones may be added.

use serde_json::{Value, json};
use strata_lab::limits::{Limits, Outcome, Part, Roof};

/// Name of the schema, described in docs/limits.md.
const SCHEMA: &str = "strata-limits-1";

/// The roofline, the issue slots, and every run.
pub fn of(limits: &Limits, overrides: &[String]) -> Value {
    let run = &limits.run;
    let stalls: serde_json::Map<String, Value> =
        run.stalls().into_iter().map(|(counter, _, slots)| (counter.to_owned(), slots.into())).collect();
    json!({
        "schema": SCHEMA,
        "simulator": strata_lab::SIMULATOR,
        "workload": run.workload,
        "size": run.size,
        "machine": run.machine,
        "system": run.system,
        "overrides": overrides,
        "cycles": run.cycles(),
        "roofline": {
            "launch_cycles": limits.roofline.cycles,
            "warp_instructions": run.warp_instructions(),
            "thread_instructions": run.thread_instructions(),
            "roofs": limits.roofline.roofs.iter().map(roof).collect::<Vec<_>>(),
            "nearest": limits.roofline.nearest().map(|roof| roof.name),
        },
        "issue_slots": {
            "all": run.counter("sm", "issue_slots"),
            "issued": run.counter("sm", "issued"),
            "stalls": stalls,
        },
        "runs": limits.outcomes.iter().map(|outcome| of_run(limits, outcome)).collect::<Vec<_>>(),
    })
}

fn roof(roof: &Roof) -> Value {
    json!({
        "part": roof.name,
        "unit": roof.unit,
        "per_cycle": roof.moved,
        "peak_per_cycle": roof.peak,
        "share": roof.share(),
        "bytes": roof.bytes,
        "thread_instructions_per_byte": roof.intensity,
    })
}

fn of_run(limits: &Limits, outcome: &Outcome) -> Value {
    let ideal: Vec<&str> = outcome.parts.iter().copied().map(Part::name).collect();
    match &outcome.ran {
        Err(reason) => json!({ "ideal": ideal, "refused": reason }),
        Ok(ran) => json!({
            "ideal": ideal,
            "cycles": ran.cycles,
            "speedup": limits.speedup(outcome),
            "verdict": ran.verdict.name(),
            "problems": ran.verdict.problems(),
            "late_accesses": ran.late,
            "mshr_waits_left": ran.left,
        }),
    }
}
