//! Explains a machine's energies to a reader.

use std::fmt::Write;

use strata_engine::Cited;
use strata_engine::config::did_you_mean;

use super::section::StructureSection;
use crate::machine::Machine;

/// Every energy of a machine with its source, or only those of structure `wanted`.
///
/// # Errors
/// If the machine has no energies or no such structure.
pub fn explain(machine: &Machine, wanted: Option<&str>) -> Result<String, String> {
    let Some(section) = &machine.file().energy else {
        return Err(format!("{}: found no `energy` section", machine.origin()));
    };
    let mut text = String::new();
    let mut found = false;
    for (name, structure) in section {
        if wanted.is_none_or(|wanted| wanted == name) {
            found = true;
            describe(&mut text, name, structure, machine);
        }
    }
    if !found {
        let known: Vec<&str> = section.keys().map(String::as_str).collect();
        let wanted = wanted.unwrap_or_default();
        let alike = did_you_mean(wanted, known.iter().copied());
        return Err(format!("no energy of `{wanted}`{alike}, expected one of {}", known.join(", ")));
    }
    for name in machine.replaced_energies() {
        writeln!(text, "energy.{name}: not known for the design that the system names")
            .expect("a string grows");
    }
    Ok(text)
}

fn describe(text: &mut String, name: &str, structure: &StructureSection, machine: &Machine) {
    let instances = structure.per.instances(&machine.file().gpu);
    let off_chip = if structure.off_chip { ", serves off-chip requests" } else { "" };
    let mut line = |line: String| writeln!(text, "{line}").expect("a string grows");
    line(format!("energy.{name} ({instances}, one a {}{off_chip})", structure.per.name()));
    let number = |cited: &Cited<f64>, unit: &str, what: &str| {
        format!("  {:>9} {unit}  {what}: {}", cited.value, cited.source)
    };
    for (part, cited) in &structure.leakage_mw {
        line(number(cited, "mW", &format!("leakage, {part}")));
    }
    for (part, cited) in &structure.area_um2 {
        line(number(cited, "um2", &format!("area, {part}")));
    }
    for (group, events) in &structure.pj {
        for (counter, cited) in events {
            line(number(cited, "pJ", &format!("{group}.{counter}")));
        }
    }
}
