//! `strata machine`.

use clap::{Args, Subcommand};
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
    print(&format!("{}: a machine can be built\n{}\n", machine.name(), machine.outline()))?;
    Ok(Finished::Well)
}
