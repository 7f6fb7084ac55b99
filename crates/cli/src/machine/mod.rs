//! `strata machine`: machines and their files, checked, shown and compared.

mod diff;
mod keys;
mod show;

use clap::{Args, Subcommand};
use strata_gpu::catalogue;
use strata_gpu::endurance;
use strata_gpu::energy::Meter;
use strata_gpu::machine::Machine;

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
    #[command(after_help = "Example:\n  strata machine check gtx480")]
    Check {
        /// Machine to check: a built-in name or a machine file.
        file: String,
    },
    /// Print a whole machine as TOML, with sources, after systems and overrides. It can be used as a machine file.
    #[command(after_help = "Example:\n  strata machine show gtx480 --system l1-sram --set l1d.ways=8")]
    Show(show::ShowArguments),
    /// Print the keys by which two machines differ, with both values.
    #[command(after_help = "Example:\n  strata machine diff gtx480 gtx480+dy-fuse")]
    Diff(diff::DiffArguments),
    /// Print every key that `--set` takes, with its value, unit, range, meaning and source.
    #[command(after_help = "Example:\n  strata machine keys l1d")]
    Keys(keys::KeysArguments),
}

/// Runs the chosen `strata machine` subcommand.
///
/// # Errors
/// What is wrong with the machine file.
pub fn machine(arguments: &MachineArguments) -> Result<Finished, String> {
    match &arguments.command {
        MachineCommand::Check { file } => check(file),
        MachineCommand::Show(arguments) => show::show(arguments),
        MachineCommand::Diff(arguments) => diff::diff(arguments),
        MachineCommand::Keys(arguments) => keys::keys(arguments),
    }
}

fn check(file: &str) -> Result<Finished, String> {
    let machine = Machine::load(file, &[]).map_err(|error| error.to_string())?;
    // Only an assembled machine knows which counters an energy or an endurance section may name.
    let groups = catalogue::statistics(&machine)?;
    Meter::new(&machine, &groups)?;
    endurance::lifetimes(&machine, &groups, 0)?;
    print(&format!("{}: a machine can be built\n{}\n", machine.name(), machine.outline()))?;
    Ok(Finished::Well)
}
