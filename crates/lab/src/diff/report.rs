//! Everything in which two runs differ, and its JSON.

use serde_json::{Value, json};
use strata_engine::statistics::Group;
use strata_measure::exact::Exact;

use super::asked::{Asked, asked};
use super::counters::{EnergyChange, Level, energies, levels};
use super::cycles::{Attribution, Cause, Slots, attribute, busiest};
use super::launches::{LaunchChange, launches};
use super::side::Side;

/// Name of the schema, described in docs/diff.md.
pub const SCHEMA: &str = "strata-diff-1";

/// Everything in which two runs differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// In what the questions differ.
    pub asked: Vec<Asked>,
    /// Cycles of the two runs.
    pub cycles: [u64; 2],
    /// What the difference of cycles went to, or why that cannot be told.
    pub attribution: Result<Attribution, String>,
    /// The SM that has warps for the longest, and what its cycles went to; of runs that are broken down by SM.
    pub busiest: Option<(String, Attribution)>,
    /// The counters that differ.
    pub levels: Vec<Level>,
    /// The energies; `None` unless both machines have some.
    pub energies: Option<Vec<EnergyChange>>,
    /// The launches, that with the greatest change first.
    pub launches: Vec<LaunchChange>,
}

impl Difference {
    /// Compares two runs. `known` are the definitions of the machines' groups, from which units come.
    #[must_use]
    pub fn between(left: &Side, right: &Side, known: &[Group]) -> Difference {
        let slots = Slots::of(left).and_then(|one| Ok((one, Slots::of(right)?)));
        Difference {
            asked: asked(left, right),
            cycles: [left.cycles, right.cycles],
            attribution: slots.map(|(left, right)| attribute(left, right)),
            busiest: busiest(left, right),
            levels: levels(left, right, known),
            energies: energies(left, right),
            launches: launches(left, right),
        }
    }

    /// Whether nothing that was measured differs.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        let energy = self.energies.iter().flatten().any(|energy| energy.change() != 0.0);
        let launch = self.launches.iter().any(|launch| launch.change() != 0);
        self.cycles[0] == self.cycles[1] && self.levels.is_empty() && !energy && !launch
    }

    /// The difference of all energy in picojoules, the sum of the structures'.
    #[must_use]
    pub fn energy_change(&self) -> Option<f64> {
        Some(self.energies.as_ref()?.iter().map(EnergyChange::change).sum())
    }

    /// The difference as JSON, with both runs.
    #[must_use]
    pub fn to_json(&self, left: &Side, right: &Side) -> Value {
        let asked = |asked: &Asked| json!({ "what": asked.what, "left": asked.left, "right": asked.right });
        let (causes, unknown) = match &self.attribution {
            Ok(attribution) => (Some(self::causes(attribution)), None),
            Err(reason) => (None, Some(reason)),
        };
        json!({
            "schema": SCHEMA,
            "left": side(left),
            "right": side(right),
            "asked": self.asked.iter().map(asked).collect::<Vec<_>>(),
            "cycles": {
                "left": self.cycles[0],
                "right": self.cycles[1],
                "change": i128_json(i128::from(self.cycles[1]) - i128::from(self.cycles[0])),
                "causes": causes,
                "causes_unknown": unknown,
                "busiest_sm": self.busiest.as_ref().map(|(sm, attribution)| json!({
                    "sm": sm,
                    "causes": self::causes(attribution),
                })),
            },
            "counters": self.levels.iter().map(level).collect::<Vec<_>>(),
            "energy": self.energies.as_ref().map(|changes| json!({
                "change_pj": self.energy_change(),
                "structures": changes.iter().map(energy).collect::<Vec<_>>(),
            })),
            "launches": self.launches.iter().map(launch).collect::<Vec<_>>(),
        })
    }
}

/// An exact number: as text, and as the nearest floating-point number.
pub(super) fn exact(number: Exact) -> Value {
    json!({ "exact": number.to_string(), "value": number.as_f64() })
}

/// A whole number; as text if JSON's readers would round it.
pub(super) fn i128_json(number: i128) -> Value {
    i64::try_from(number).map_or_else(|_| number.to_string().into(), Value::from)
}

fn side(side: &Side) -> Value {
    json!({
        "name": side.name,
        "workload": side.workload,
        "size": side.size,
        "machine": side.machine,
        "system": side.system,
        "overrides": side.overrides,
        "simulator": side.simulator,
        "core_mhz": side.core_mhz,
        "statistics_hash": side.statistics_hash,
        "stopped": side.stopped,
    })
}

fn causes(attribution: &Attribution) -> Vec<Value> {
    let cause = |cause: &Cause| {
        json!({
            "cause": cause.name,
            "left_slots": cause.left_slots,
            "right_slots": cause.right_slots,
            "left_cycles": exact(cause.left),
            "right_cycles": exact(cause.right),
            "change": exact(cause.change()),
        })
    };
    attribution.causes.iter().map(cause).collect()
}

fn level(level: &Level) -> Value {
    let counters = level.counters.iter().map(|counter| {
        json!({
            "counter": counter.counter,
            "left": counter.left,
            "right": counter.right,
            "change": i128_json(counter.change()),
            "relative": counter.relative(),
            "weight": counter.weight,
        })
    });
    json!({ "group": level.group, "counters": counters.collect::<Vec<_>>() })
}

fn energy(energy: &EnergyChange) -> Value {
    json!({
        "structure": energy.structure,
        "left": { "pj": energy.pj[0], "leakage_pj": energy.leakage_pj[0] },
        "right": { "pj": energy.pj[1], "leakage_pj": energy.leakage_pj[1] },
        "change_pj": energy.change(),
    })
}

fn launch(launch: &LaunchChange) -> Value {
    json!({
        "launch": launch.place,
        "left": { "kernel": launch.kernels[0], "cycles": launch.cycles[0] },
        "right": { "kernel": launch.kernels[1], "cycles": launch.cycles[1] },
        "change": i128_json(launch.change()),
        "causes": launch.attribution.as_ref().map(causes),
    })
}
