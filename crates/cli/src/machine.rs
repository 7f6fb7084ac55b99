//! `strata machine`.

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
    /// Read a machine file and say whether a machine can be built from it.
    Check {
        /// A machine's name or file.
        file: String,
    },
}

/// Runs the command.
pub fn machine(arguments: &MachineArguments) -> Result<Finished, String> {
    let MachineCommand::Check { file } = &arguments.command;
    let machine = Machine::load(file, &[]).map_err(|error| error.to_string())?;
    // What an energy or an array's wear is counted by is known of the assembled machine only.
    let groups = catalogue::statistics(&machine)?;
    Meter::new(&machine, &groups)?;
    endurance::lifetimes(&machine, &groups, 0)?;
    print(&format!("{}: a machine can be built\n{}\n", machine.name(), machine.outline()))?;
    Ok(Finished::Well)
}
