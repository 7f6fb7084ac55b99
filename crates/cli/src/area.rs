//! `strata area`: the transistor count of a machine's designs.

use std::fmt::Write;

use clap::Args;
use strata_gpu::area::{AreaSize, Component, total};

use crate::choice::MachineChoice;
use crate::{Finished, print};

/// Arguments of `strata area`.
#[derive(Args)]
pub struct AreaArguments {
    #[command(flatten)]
    machine: MachineChoice,
}

/// Prints one table for each design that has an area model.
///
/// # Errors
/// A machine that cannot be loaded.
pub fn area(arguments: &AreaArguments) -> Result<Finished, String> {
    let machine = arguments.machine.load(&[])?;
    let tables: Vec<String> =
        machine.file().doors.area().iter().map(|(section, rows)| table(section, rows)).collect();
    print(&tables.join("\n"))?;
    Ok(Finished::Well)
}

/// Formats one design's components, with the rule that sizes each, and their sums.
fn table(section: &str, components: &[Component]) -> String {
    let mut text = format!("{section}\n");
    let mut row = |name: &str, count: u64, rule: &str| {
        writeln!(text, "{name:<22}{count:>12}  {rule}").expect("a string grows");
    };
    let (transistors, features) = total(components);
    for component in components {
        let (count, unit) = match component.size {
            AreaSize::Transistors(count) => (count, ""),
            AreaSize::SquareFeatures(count) => (count, " (F^2)"),
        };
        row(component.name, count, &format!("{}{unit}", component.rule));
    }
    row("transistors", transistors, "of each");
    if features > 0 {
        row("F^2", features, "of each, beside the transistors");
    }
    text
}
