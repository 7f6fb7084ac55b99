//! `strata area`.

use std::fmt::Write;

use clap::Args;
use strata_gpu::area::{self, AreaSize, Component, total};
use strata_gpu::machine::Machine;

use crate::{Finished, print};

/// Arguments of `strata area`.
#[derive(Args)]
pub struct AreaArguments {
    /// The machine: a name (see `strata list machines`) or a machine file.
    #[arg(long, default_value = "gtx480")]
    machine: String,
    /// A system laid over the machine: a name (see `strata list systems`) or a system's file.
    #[arg(long)]
    system: Option<String>,
}

/// Prints the L1D's table.
pub fn area(arguments: &AreaArguments) -> Result<Finished, String> {
    let machine = Machine::load_with(&arguments.machine, arguments.system.as_deref(), &[])
        .map_err(|error| error.to_string())?;
    print(&table(&area::l1d(&machine)))?;
    Ok(Finished::Well)
}

/// Rows with their rules, and sums.
fn table(components: &[Component]) -> String {
    let mut text = String::new();
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
    row("transistors", transistors, "of an SM's L1D");
    if features > 0 {
        row("F^2", features, "of an SM's L1D, beside the transistors");
    }
    text
}
