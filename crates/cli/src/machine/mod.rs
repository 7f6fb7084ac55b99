//! `strata machine`: machines and their files, checked, shown and compared.

mod diff;
mod keys;
mod show;

use clap::{Args, Subcommand};
use strata_gpu::catalogue;
use strata_gpu::endurance;
use strata_gpu::energy::Meter;
use strata_gpu::machine::{self, Machine};

use crate::{Finished, print};

/// Arguments of `strata machine`.
#[derive(Args)]
pub struct MachineArguments {
    #[command(subcommand)]
    command: MachineCommand,
}

#[derive(Subcommand)]
enum MachineCommand {
    /// Check whether a machine can be built from a machine file.
    #[command(after_help = "Example:\n  strata machine check gtx480 --system dy-fuse --system hi-end")]
    Check(Choice),
    /// Print a whole machine as TOML, with sources, after systems and overrides. It can be used as a machine file.
    #[command(after_help = "Example:\n  strata machine show gtx480 --system l1-sram --set l1d.ways=8")]
    Show(Choice),
    /// Print the keys by which two machines differ, with both values.
    #[command(after_help = "Example:\n  strata machine diff gtx480 gtx480+dy-fuse")]
    Diff(diff::DiffArguments),
    /// Print the overrides with which a system's kernel for SMs in cache mode fits a machine: a system's own numbers are for the
    /// GPU that its paper describes.
    #[command(after_help = "Example:\n  strata machine fit gtx480 --system morpheus-all")]
    Fit(Choice),
    /// Print every key that `--set` takes, with its value, unit, range, meaning and source.
    #[command(after_help = "Example:\n  strata machine keys l1d")]
    Keys(keys::KeysArguments),
}

/// A machine, with systems and overrides.
#[derive(Args)]
struct Choice {
    /// Machine: a built-in name (see `strata list machines`) or a machine file.
    machine: String,
    /// System to lay over the machine, as in `strata run`. May be repeated.
    #[arg(long = "system", value_name = "SYSTEM")]
    systems: Vec<String>,
    /// Override a value of the machine file, as in `l1d.ways=8`. May be repeated.
    #[arg(long = "set", value_name = "DOOR.KEY=VALUE")]
    overrides: Vec<String>,
}

impl Choice {
    /// Builds the machine.
    ///
    /// # Errors
    /// Why it cannot be: the systems that exclude each other, or what is wrong in a file.
    fn load(&self) -> Result<Machine, String> {
        Machine::load_with(&self.machine, &self.systems, &self.overrides).map_err(|error| error.to_string())
    }
}

/// Runs the chosen `strata machine` subcommand.
///
/// # Errors
/// What is wrong with the machine file.
pub fn machine(arguments: &MachineArguments) -> Result<Finished, String> {
    match &arguments.command {
        MachineCommand::Check(choice) => check(&choice.load()?),
        MachineCommand::Show(choice) => show::show(&choice.load()?),
        MachineCommand::Diff(arguments) => diff::diff(arguments),
        MachineCommand::Fit(choice) => fit(choice),
        MachineCommand::Keys(arguments) => keys::keys(arguments),
    }
}

fn fit(choice: &Choice) -> Result<Finished, String> {
    let found = machine::fit(&choice.machine, &choice.systems, &choice.overrides);
    let sets: Vec<String> =
        found.map_err(|error| error.to_string())?.iter().map(|set| format!("--set {set}")).collect();
    print(&format!("{}\n", sets.join(" ")))?;
    Ok(Finished::Well)
}

fn check(machine: &Machine) -> Result<Finished, String> {
    // Only an assembled machine knows which counters an energy or an endurance section may name.
    let groups = catalogue::statistics(machine)?;
    Meter::new(machine, &groups)?;
    endurance::lifetimes(machine, &groups, 0)?;
    let systems = machine.system_name().map_or_else(String::new, |systems| format!(" with {systems}"));
    print(&format!("{}{systems}: a machine can be built\n{}\n", machine.name(), machine.outline()))?;
    Ok(Finished::Well)
}
