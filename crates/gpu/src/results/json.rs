//! Writes a run as JSON. Keys are stable; new ones may be added.

use serde_json::{Map, Value, json};
use strata_engine::statistics::Group;
use strata_workloads::Glance;

use super::energy;
use super::{Checked, LaunchResult, PhaseResult, RunResult, RunSchedule, Totals, ratio};

/// Name of the schema, described in docs/results.md.
pub const SCHEMA: &str = "strata-run-1";

impl RunResult {
    /// The whole result as JSON, including the name of the schema.
    pub fn to_json(&self) -> Value {
        let mut run = self.totals_to_json(&Totals::of(&self.launches));
        run["launches"] = self.launches.iter().map(LaunchResult::to_json).collect();
        run
    }

    /// The result as JSON, of a run whose launches have these totals and are written elsewhere: `launches` is null.
    pub fn totals_to_json(&self, totals: &Totals) -> Value {
        let lifetimes: Map<String, Value> = self.lifetimes.iter().map(energy::lifetime).collect();
        let mut run = json!({
            "schema": SCHEMA,
            "stopped": self.verdict.stopped(),
            "region": (!self.region.is_everything()).then(|| json!({
                "from_launch": self.region.from,
                "to_launch": self.region.to,
                "kernel": self.region.kernel,
                "warm": self.region.warm,
                "from_cta": self.region.from_cta,
                "from_instruction": self.region.from_instruction,
                "warm_ctas": self.region.warm_ctas,
                "for_ctas": self.region.most.ctas,
                "for_cycles": self.region.most.cycles,
                "for_instructions": self.region.most.instructions,
                "finish": self.region.finish,
            })),
            "began": self.began.map(|began| json!({
                "launch": began.at.launch,
                "cta": began.at.cta,
                "skipped_warp_instructions": began.skipped.warp_instructions,
                "skipped_thread_instructions": began.skipped.thread_instructions,
                "caches": if began.is_warm { "warm" } else { "cold" },
                "warm_ctas": began.warm_ctas,
            })),
            "ended": self.ended.map(|ended| json!({ "launch": ended.launch, "cta": ended.cta })),
            "provenance": {
                "simulator": self.provenance.simulator,
                "command": self.provenance.command,
                "ptx": self.provenance.ptx,
                "inputs": self.provenance.inputs,
                "machine_file": self.provenance.machine_file,
                "machine": self.provenance.machine,
            },
            "workload": self.workload,
            "size": self.size,
            "machine": self.machine,
            "system": self.system,
            "core_mhz": self.facts.core_mhz,
            "dram_peak_bytes_per_second": self.facts.dram_bytes_per_second,
            "overrides": self.overrides,
            "verdict": self.verdict.name(),
            "verified": self.verdict.verified(),
            "problems": self.verdict.problems(),
            "checked": self.checked.map(Checked::to_json),
            "cycles": totals.cycles + self.phase_cycles(),
            "warp_instructions": totals.warp_instructions,
            "thread_instructions": totals.thread_instructions,
            "ipc": ratio(totals.thread_instructions, totals.cycles),
            "statistics_hash": format!("{:016x}", self.hash_after(totals)),
            "simulation": {
                "seconds": self.cost.seconds,
                "warp_instructions": self.cost.warp_instructions,
                "warp_instructions_per_second": self.cost.speed(),
                "fast_forwarded_launches": self.cost.fast_forwarded,
                "threads": self.cost.threads,
                "window_cycles": self.cost.window,
                "peak_memory_bytes": self.cost.peak_memory_bytes,
                "schedule": self.cost.schedule.as_ref().map(RunSchedule::to_json),
            },
            "launches": null,
            "comparisons": self.comparisons.iter().map(|comparison| json!({
                "buffer": comparison.buffer,
                "elements": comparison.elements,
                "mismatches": comparison.mismatches,
                // JSON has no infinity.
                "largest_error": comparison.largest_error.is_finite().then_some(comparison.largest_error),
            })).collect::<Vec<_>>(),
            "outputs": self.glances().map(glance).collect::<Vec<_>>(),
            "endurance": lifetimes,
        });
        run["energy"] = self.energy.as_ref().map_or(Value::Null, energy::run);
        run["statistics"] = counters(&self.statistics);
        if !self.breakdowns.is_empty() {
            let by =
                self.breakdowns.iter().map(|breakdown| (breakdown.by.name().to_owned(), breakdown.to_json()));
            run["by"] = Value::Object(by.collect());
        }
        if let Some(paths) = &self.critical_paths {
            run["critical_path"] = paths.to_json();
        }
        if !self.phases.is_empty() {
            run["host_phases"] = self.phases.iter().map(PhaseResult::to_json).collect();
            run["host_phase_cycles"] = self.phase_cycles().into();
        }
        run
    }
}

/// Counters by group and name.
pub(super) fn counters(groups: &[Group]) -> Value {
    let of_group = |group: &Group| {
        let counters = group.definitions.iter().zip(&group.values);
        let counters: Value = counters.map(|(definition, value)| (definition.name, *value)).collect();
        (group.name, counters)
    };
    groups.iter().map(of_group).collect()
}

/// An output as JSON; what JSON has no number for is a string.
fn glance(glance: Glance) -> Value {
    let number = |text: String| serde_json::from_str(&text).unwrap_or(Value::String(text));
    let numbers = |texts: Vec<String>| texts.into_iter().map(number).collect::<Vec<Value>>();
    let (least, greatest) = glance.range.unzip();
    json!({
        "buffer": glance.name,
        "type": glance.element,
        "elements": glance.count,
        "first": numbers(glance.first),
        "last": numbers(glance.last),
        "least": least.map(number),
        "greatest": greatest.map(number),
        "nans": glance.nans,
    })
}

impl LaunchResult {
    /// The launch as JSON.
    pub fn to_json(&self) -> Value {
        let mut launch = json!({
            "kernel": self.kernel,
            "grid": self.grid,
            "block": self.block,
            "cycles": self.cycles,
            "warp_instructions": self.warp_instructions,
            "thread_instructions": self.thread_instructions,
            "registers_per_thread": self.registers,
            "reuses_registers": self.reuses_registers,
            "shared_bytes_per_cta": self.shared_bytes,
            "ctas_per_sm": self.ctas_per_sm,
            "limiter": self.limiter,
            "printed": self.printed,
            "energy": self.energy.as_ref().map(energy::launch),
        });
        if self.overlapped_cycles > 0 {
            launch["overlapped_cycles"] = self.overlapped_cycles.into();
        }
        if let Some(taken) = self.carve_out {
            launch["shared_carve_out_bytes"] = taken.into();
        }
        launch
    }
}
