//! What a program's setup counts: its host phases before the first launch, on a machine's CPU cores. The groups of a run stand
//! beside it once more as `setup.GROUP`, so what is left without the setup is a difference (`run.cycles - run.setup_cycles`,
//! `energy.l2_pj - setup.energy.l2_pj`).

use strata_engine::statistics::Group;
use strata_gpu::energy::EnergyReport;
use strata_gpu::results::{PhaseResult, merge_groups};

use crate::rows::{Row, Value, energy_rows};

/// The name of a group in the setup.
pub(crate) fn group(name: &str) -> String {
    format!("setup.{name}")
}

/// Whether the groups are those of a machine with CPU cores. Others count no setup: they run it functionally.
pub(crate) fn has_cores(statistics: &[Group]) -> bool {
    statistics.iter().any(|group| group.name == "cpu")
}

/// The host phases before the first launch.
pub(crate) fn phases(all: &[PhaseResult]) -> impl Iterator<Item = &PhaseResult> {
    all.iter().filter(|phase| phase.after_launches == 0)
}

/// The rows of the setup among a run's host phases; zeros where it has none, and no row where the machine has no CPU cores.
/// `statistics` and `energy` are of the whole run.
#[must_use]
pub fn rows(all: &[PhaseResult], statistics: &[Group], energy: Option<&EnergyReport>) -> Vec<Row> {
    if !has_cores(statistics) {
        return Vec::new();
    }
    let mut counted = statistics.to_vec();
    for count in counted.iter_mut().flat_map(|group| &mut group.values) {
        *count = 0;
    }
    let mut energies: Vec<Row> = energy.into_iter().flat_map(energy_rows).collect();
    for row in &mut energies {
        row.value = Value::Real(0.0);
    }
    for phase in phases(all) {
        merge_groups(&mut counted, phase.counted.clone());
        let of_phase = phase.energy.iter().flat_map(energy_rows);
        for (sum, row) in energies.iter_mut().zip(of_phase) {
            sum.value = Value::Real(sum.value.as_f64() + row.value.as_f64());
        }
    }
    let counters = counted.iter().flat_map(|of| {
        of.definitions.iter().zip(&of.values).map(|(definition, value)| Row {
            launch: None,
            group: group(of.name),
            counter: definition.name.to_owned(),
            value: Value::Count(*value),
        })
    });
    counters.chain(energies.into_iter().map(|row| Row { group: group(&row.group), ..row })).collect()
}
