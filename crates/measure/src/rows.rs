//! The numbers of a run's parts as rows: energies, areas and lifetimes.

use strata_gpu::area::{AreaSize, DesignArea, total};
use strata_gpu::endurance::{self, Lifetime};
use strata_gpu::energy::{EnergyReport, StructureEnergy};
use strata_gpu::machine::Machine;

/// One number of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The launch, from 0; `None` for the whole run.
    pub launch: Option<u32>,
    /// Group of the counter; in rows of launches, the name of the kernel; of what was counted before the first launch,
    /// `setup.` and the group.
    pub group: String,
    /// Name of the counter within its group.
    pub counter: String,
    /// The value that was measured.
    pub value: Value,
}

/// A value with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A count of events.
    Count(u64),
    /// A number that is not a count.
    Real(f64),
}

impl Value {
    /// The value as a floating-point number.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        match self {
            Value::Count(count) => count as f64,
            Value::Real(real) => real,
        }
    }
}

/// Sums over the structures of a machine.
pub(crate) const ENERGY_SUMS: [&str; 2] = ["total_pj", "off_chip_pj"];

/// Energy in picojoules: each structure's (`energy.l1d_pj`) and its leakage (`energy.l1d_leakage_pj`), the total, and the
/// part spent on requests that left the SM.
pub fn energy_rows(energy: &EnergyReport) -> Vec<Row> {
    let row = |counter: String, pj: f64| Row {
        launch: None,
        group: "energy".into(),
        counter,
        value: Value::Real(pj),
    };
    // If a design has no energies, totals would look complete without being so.
    let whole = energy.unknown.is_empty();
    let off_chip = energy.structures.iter().filter(|structure| structure.off_chip);
    let off_chip: f64 = off_chip.map(StructureEnergy::total_pj).sum();
    let sums = ENERGY_SUMS.into_iter().zip([energy.total_pj(), off_chip]);
    let sums = sums.filter(|_| whole).map(|(name, pj)| row(name.into(), pj));
    let structures = energy.structures.iter();
    let of = |of: &StructureEnergy| {
        [row(format!("{}_pj", of.name), of.total_pj()), row(format!("{}_leakage_pj", of.name), of.leakage_pj)]
    };
    sums.chain(structures.flat_map(of)).collect()
}

/// The areas of a machine's designs, and of all instances of those structures of its energies that have one
/// (`area.l1d_um2`).
pub fn area_rows(machine: &Machine) -> Vec<Row> {
    let structures = machine.file().energy.iter().flatten();
    let structures = structures.filter_map(|(name, structure)| {
        let area = structure.all_area_um2(&machine.file().gpu)?;
        let (counter, value) = (format!("{name}_um2"), Value::Real(area));
        Some(Row { launch: None, group: "area".into(), counter, value })
    });
    let designs = machine.file().doors.area();
    designs.iter().flat_map(area_of).chain(structures).collect()
}

/// The size of each component of a design in its own unit, and their sum in each unit. The L1D's components go
/// by their own names (`area.data_array`), those of others have the door's before (`area.register_file_banks`);
/// sums always have it (`area.l1d_transistors`).
fn area_of(area: &DesignArea) -> Vec<Row> {
    let row = |counter: String, value: Value| Row { launch: None, group: "area".into(), counter, value };
    let door = area.door.rsplit('.').next().unwrap_or(area.door);
    let named = |name: &str| if door == "l1d" { name.to_owned() } else { format!("{door}_{name}") };
    let components = area.components.iter().map(|component| {
        let size = match component.size {
            AreaSize::Transistors(count) | AreaSize::SquareFeatures(count) | AreaSize::Bits(count) => {
                Value::Count(count)
            }
            AreaSize::SquareMicrometres(area) => Value::Real(area),
        };
        let name = component.name.to_ascii_lowercase();
        row(named(&name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")), size)
    });
    let total = total(&area.components);
    let sums = [
        ("transistors", total.transistors.map(Value::Count)),
        ("square_features", total.square_features.map(Value::Count)),
        ("square_micrometres", total.square_micrometres.map(Value::Real)),
        ("bits", total.bits.map(Value::Count)),
    ];
    let sums = sums.into_iter().filter_map(|(unit, sum)| Some(row(format!("{door}_{unit}"), sum?)));
    components.chain(sums).collect()
}

/// Name of the group of a structure's lifetimes.
pub(crate) fn lifetime_group(structure: &str) -> String {
    format!("{LIFETIME}{structure}")
}

/// What the names of groups of lifetimes begin with.
pub const LIFETIME: &str = "lifetime.";

/// Lifetimes of a structure in months (`lifetime.l1d.hottest_months`), infinite where nothing is written, with what they
/// follow from.
pub fn lifetime_rows(lifetime: &Lifetime) -> Vec<Row> {
    let group = lifetime_group(&lifetime.structure);
    let row = |counter: String, value: f64| Row {
        launch: None,
        group: group.clone(),
        counter,
        value: Value::Real(value),
    };
    let readings = lifetime.readings.iter().flat_map(|reading| {
        let name = reading.wear.name();
        let months = lifetime.seconds(*reading) / endurance::MONTH;
        [row(format!("{name}_writes"), reading.writes), row(format!("{name}_months"), months)]
    });
    [row("cell_writes".into(), lifetime.cell_writes)].into_iter().chain(readings).collect()
}

#[cfg(test)]
mod tests {
    use strata_gpu::area::Component;

    use super::*;

    #[test]
    fn areas_stand_in_a_machines_record_by_door_and_unit() {
        let components = vec![
            Component::square_micrometres("STT-MRAM banks", 38_000.5, "NVSim"),
            Component::square_micrometres("register cache", 59_267.0, "NVSim"),
            Component::transistors("bank arbiter", 900, "a guess"),
        ];
        let area = DesignArea { door: "sm.register_file", design: "made-up", components };
        let rows: Vec<(String, Value)> = area_of(&area)
            .into_iter()
            .map(|row| (format!("{}.{}", row.group, row.counter), row.value))
            .collect();
        let expected = [
            ("area.register_file_stt_mram_banks", Value::Real(38_000.5)),
            ("area.register_file_register_cache", Value::Real(59_267.0)),
            ("area.register_file_bank_arbiter", Value::Count(900)),
            ("area.register_file_transistors", Value::Count(900)),
            ("area.register_file_square_micrometres", Value::Real(97_267.5)),
        ];
        assert_eq!(rows, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn structures_with_an_area_have_that_of_all_their_instances() {
        let machine = Machine::load_with("fermi-apu", &["tcbase"], &[]).unwrap();
        let rows = area_rows(&machine);
        let of = |counter: &str| match rows.iter().find(|row| row.counter == counter).map(|row| row.value) {
            Some(Value::Real(area)) => area,
            other => panic!("{counter}: {other:?}"),
        };
        // Four SMs, two slices.
        assert_eq!((of("l1d_um2"), of("l2_um2")), (4.0 * 148_439.0, 2.0 * 357_156.0));
        assert_eq!(of("tiny_cache_um2"), 4.0 * (86_762.0 + 86_813.0 + 8_744.0));
        assert!(!rows.iter().any(|row| row.counter == "dram_um2"));
    }
}
