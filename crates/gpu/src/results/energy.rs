//! Energy and lifetime in results: JSON and the lines of the summary.

use serde_json::{Map, Value, json};

use super::rows::Page;
use crate::endurance::{Lifetime, Wear};
use crate::energy::{EnergyReport, EventEnergy, StructureEnergy};

/// Energy of a run as JSON: totals, structures and their events.
pub(super) fn run(energy: &EnergyReport) -> Value {
    report(energy, |structure| {
        let event = |event: &EventEnergy| {
            let value = json!({ "count": event.count, "pj_each": event.each_pj, "pj": event.pj() });
            (format!("{}.{}", event.group, event.counter), value)
        };
        let events: Map<String, Value> = structure.events.iter().map(event).collect();
        let mut value = sums(structure);
        value["events"] = Value::Object(events);
        value
    })
}

/// Energy of a launch as JSON: totals and structures.
pub(super) fn launch(energy: &EnergyReport) -> Value {
    report(energy, sums)
}

fn report(energy: &EnergyReport, structure: impl Fn(&StructureEnergy) -> Value) -> Value {
    let structures: Map<String, Value> =
        energy.structures.iter().map(|part| (part.name.clone(), structure(part))).collect();
    json!({
        "pj": energy.total_pj(),
        "dynamic_pj": energy.dynamic_pj(),
        "leakage_pj": energy.leakage_pj(),
        "watts": energy.watts(),
        "off_chip_share": energy.off_chip_share(),
        "off_chip_dynamic_share": energy.off_chip_dynamic_share(),
        "unknown": energy.unknown,
        "structures": structures,
    })
}

fn sums(structure: &StructureEnergy) -> Value {
    json!({
        "off_chip": structure.off_chip,
        "pj": structure.total_pj(),
        "dynamic_pj": structure.dynamic_pj(),
        "leakage_pj": structure.leakage_pj,
    })
}

/// Lifetime of an array as JSON, with its name.
pub(super) fn lifetime(lifetime: &Lifetime) -> (String, Value) {
    let reading = |wear: Wear| lifetime.reading(wear);
    // JSON has no infinity.
    let seconds = |wear| reading(wear).map(|of| lifetime.seconds(of)).filter(|seconds| seconds.is_finite());
    let writes = |wear| reading(wear).map(|of| of.writes);
    let value = json!({
        "writes": lifetime.writes,
        "cell_writes": lifetime.cell_writes,
        "run_seconds": lifetime.run_seconds,
        "hottest_line_writes": writes(Wear::Hottest).map(|writes| writes as u64),
        "bank_entry_writes": writes(Wear::Bank),
        "mean_line_writes": writes(Wear::Levelled),
        "hottest_seconds": seconds(Wear::Hottest),
        "bank_seconds": seconds(Wear::Bank),
        "levelled_seconds": seconds(Wear::Levelled),
    });
    (lifetime.structure.clone(), value)
}

/// Adds one line to the page for each reading of each array that wears out, with its arithmetic.
pub(super) fn lifetime_rows(lifetimes: &[Lifetime], page: &mut Page) {
    if !lifetimes.is_empty() {
        page.section("lifetime, if the run were repeated for ever: endurance / (writes / time)");
    }
    for lifetime in lifetimes {
        let mut name = lifetime.structure.as_str();
        for reading in &lifetime.readings {
            page.row(name, &format!("{}: {}", lifetime.arithmetic(*reading), reading.wear.meaning()));
            name = "";
        }
    }
}

/// Number of structures on the page; those with the most energy are shown.
const STRUCTURES_SHOWN: usize = 5;

/// Adds the energy lines to the page.
pub(super) fn rows(energy: &EnergyReport, page: &mut Page) {
    let total = energy.total_pj();
    let share = |pj: f64| if total > 0.0 { 100.0 * pj / total } else { 0.0 };
    page.section("energy");
    page.row(
        "total",
        &format!(
            "{}, {:.1} W on average; {:.1} % of it leakage",
            joules(total),
            energy.watts(),
            share(energy.leakage_pj())
        ),
    );
    let mut structures: Vec<&StructureEnergy> = energy.structures.iter().collect();
    structures.sort_by(|a, b| b.total_pj().total_cmp(&a.total_pj()));
    let shown: Vec<String> = structures
        .iter()
        .take(STRUCTURES_SHOWN)
        .map(|part| format!("{} {:.1} %", part.name.replace('_', " "), share(part.total_pj())))
        .collect();
    page.row("most in", &shown.join(", "));
    if let Some(l1d) = energy.structure("l1d") {
        page.row(
            "L1D",
            &format!("{}, {:.1} % of it leakage", joules(l1d.total_pj()), {
                let pj = l1d.total_pj();
                if pj > 0.0 { 100.0 * l1d.leakage_pj / pj } else { 0.0 }
            }),
        );
    }
    page.row(
        "off-chip requests",
        &format!(
            "{:.1} % of all, {:.1} % without leakage: network, L2 and DRAM",
            100.0 * energy.off_chip_share(),
            100.0 * energy.off_chip_dynamic_share()
        ),
    );
    if !energy.unknown.is_empty() {
        page.row("NOT COUNTED", &format!("no energy is known of {}", energy.unknown.join(", ")));
    }
}

/// Formats picojoules with a decimal prefix.
fn joules(pj: f64) -> String {
    let mut value = pj;
    for unit in ["pJ", "nJ", "uJ", "mJ"] {
        if value < 1000.0 {
            return format!("{value:.1} {unit}");
        }
        value /= 1000.0;
    }
    format!("{value:.1} J")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endurance::Reading;

    fn of_register_file() -> Lifetime {
        let readings = [(Wear::Hottest, 4.0), (Wear::Bank, 0.5)];
        Lifetime {
            structure: "register_file".into(),
            writes: 9,
            cell_writes: 1e13,
            run_seconds: 1e-3,
            readings: readings.map(|(wear, writes)| Reading { wear, writes }).into(),
        }
    }

    #[test]
    fn a_lifetime_shows_its_arithmetic() {
        let mut page = Page::default();
        lifetime_rows(&[of_register_file()], &mut page);
        let lines = [
            " lifetime, if the run were repeated for ever: endurance / (writes / time)",
            "  register_file               1e13 / (4 writes / 1.000e-3 s) = 79.2 years: the most-written line",
            "                              1e13 / (0.500 writes / 1.000e-3 s) = 633.8 years: an entry of the \
             most-written bank, if its writes were spread evenly over its entries",
            "",
        ];
        assert_eq!(page.text(), lines.join("\n"));
    }

    #[test]
    fn what_a_lifetime_does_not_have_is_null() {
        let mut unwritten = of_register_file();
        unwritten.readings[0].writes = 0.0;
        let (name, value) = lifetime(&unwritten);
        assert_eq!((name.as_str(), &value["hottest_line_writes"]), ("register_file", &json!(0)));
        assert!(value["hottest_seconds"].is_null() && value["levelled_seconds"].is_null());
        assert_eq!(value["bank_seconds"], json!(2e10));
    }

    #[test]
    fn joules_for_readers() {
        assert_eq!(joules(0.0), "0.0 pJ");
        assert_eq!(joules(1500.0), "1.5 nJ");
        assert_eq!(joules(2.5e12), "2.5 J");
        assert_eq!(joules(4e15), "4000.0 J");
    }
}
