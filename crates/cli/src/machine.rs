//! `strata machine`: work with machine files.

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
    Check {
        /// Machine to check: a built-in name or a machine file.
        file: String,
    },
}

/// Runs the chosen `strata machine` subcommand.
///
/// # Errors
/// What is wrong with the machine file.
pub fn machine(arguments: &MachineArguments) -> Result<Finished, String> {
    let MachineCommand::Check { file } = &arguments.command;
    let machine = Machine::load(file, &[]).map_err(|error| error.to_string())?;
    // Only an assembled machine knows which counters an energy or an endurance section may name.
    let groups = catalogue::statistics(&machine)?;
    Meter::new(&machine, &groups)?;
    endurance::lifetimes(&machine, &groups, 0)?;
    print(&format!("{}: a machine can be built\n{}\n", machine.name(), machine.outline()))?;
    Ok(Finished::Well)
}
