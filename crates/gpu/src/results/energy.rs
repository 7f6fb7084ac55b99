//! Energy and lifetime in results: JSON and the lines of the summary.

use serde_json::{Map, Value, json};

use super::summary::Page;
use crate::endurance::Lifetime;
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
    // JSON has no infinity.
    let finite = |seconds: f64| seconds.is_finite().then_some(seconds);
    let value = json!({
        "writes": lifetime.writes,
        "hottest_line_writes": lifetime.hottest_line_writes,
        "mean_line_writes": lifetime.mean_line_writes,
        "hottest_seconds": finite(lifetime.hottest_seconds),
        "levelled_seconds": finite(lifetime.levelled_seconds),
    });
    (lifetime.structure.clone(), value)
}

/// Adds one line to the page for each array that wears out.
pub(super) fn lifetime_rows(lifetimes: &[Lifetime], page: &mut Page) {
    const YEAR: f64 = 365.25 * 24.0 * 3600.0;
    if !lifetimes.is_empty() {
        page.section("lifetime, if the run were repeated for ever");
    }
    for lifetime in lifetimes {
        let years = |seconds: f64| format!("{:.2} years", seconds / YEAR);
        page.row(
            &lifetime.structure,
            &format!(
                "{}; {} if all lines were written alike",
                years(lifetime.hottest_seconds),
                years(lifetime.levelled_seconds)
            ),
        );
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

    #[test]
    fn joules_for_readers() {
        assert_eq!(joules(0.0), "0.0 pJ");
        assert_eq!(joules(1500.0), "1.5 nJ");
        assert_eq!(joules(2.5e12), "2.5 J");
        assert_eq!(joules(4e15), "4000.0 J");
    }
}
