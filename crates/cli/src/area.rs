//! `strata area`: the area of a machine's designs.

use std::fmt::Write;

use clap::Args;
use strata_gpu::area::{AreaSize, DesignArea, total};

use crate::choice::MachineChoice;
use crate::{Finished, print};

/// Arguments of `strata area`.
#[derive(Args)]
pub struct AreaArguments {
    #[command(flatten)]
    machine: MachineChoice,
}

/// Prints one table for each design that says its area.
///
/// # Errors
/// A machine that cannot be loaded.
pub fn area(arguments: &AreaArguments) -> Result<Finished, String> {
    let machine = arguments.machine.load(&[])?;
    let tables: Vec<String> = machine.file().doors.area().iter().map(table).collect();
    print(&tables.join("\n"))?;
    Ok(Finished::Well)
}

/// Formats one design's components, with the rule that sizes each, and their sums.
fn table(area: &DesignArea) -> String {
    let mut text = format!("{}.{}\n", area.door, area.design);
    let mut row = |name: &str, size: String, rule: &str| {
        writeln!(text, "{name:<28}{size:>12}  {rule}").expect("a string grows");
    };
    for component in &area.components {
        let (size, unit) = match component.size {
            AreaSize::Transistors(count) => (count.to_string(), ""),
            AreaSize::SquareFeatures(count) => (count.to_string(), " (F^2)"),
            AreaSize::SquareMicrometres(area) => (rounded(area), " (um^2)"),
            AreaSize::Bits(count) => (count.to_string(), " (bits)"),
        };
        row(component.name, size, &format!("{}{unit}", component.rule));
    }
    let total = total(&area.components);
    let sums = [
        ("transistors", total.transistors.map(|count| count.to_string())),
        ("F^2", total.square_features.map(|count| count.to_string())),
        ("um^2", total.square_micrometres.map(rounded)),
        ("bits", total.bits.map(|count| count.to_string())),
    ];
    for (unit, sum) in sums {
        if let Some(sum) = sum {
            row(unit, sum, "of each");
        }
    }
    text
}

/// At most one digit after the point.
fn rounded(area: f64) -> String {
    ((area * 10.0).round() / 10.0).to_string()
}

#[cfg(test)]
mod tests {
    use strata_gpu::area::Component;

    use super::*;

    #[test]
    fn each_unit_has_a_sum_of_its_own() {
        let components = vec![
            Component::transistors("decoder", 562, "64 wordlines"),
            Component::square_micrometres("register cache", 59_267.04, "30.55 % of 194000"),
            Component::square_micrometres("banks", 38_000.0, "NVSim"),
        ];
        let area = DesignArea { door: "sm.register_file", design: "mixed", components };
        let lines = [
            "sm.register_file.mixed",
            "decoder                              562  64 wordlines",
            "register cache                     59267  30.55 % of 194000 (um^2)",
            "banks                              38000  NVSim (um^2)",
            "transistors                          562  of each",
            "um^2                               97267  of each",
            "",
        ];
        assert_eq!(table(&area), lines.join("\n"));
        assert_eq!(rounded(10_844.64), "10844.6");
    }
}
