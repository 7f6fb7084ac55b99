//! Options that choose the machine a command works on.

use clap::Args;
use strata_gpu::machine::Machine;

/// A machine and the systems laid over it, as command-line options.
#[derive(Args)]
pub struct MachineChoice {
    /// Machine to model: a built-in name (see `strata list machines`) or a machine file.
    #[arg(long, default_value = "gtx480")]
    pub machine: String,
    /// System to lay over the machine: a built-in name (see `strata list systems`) or a system file. Repeat
    /// the option, or write `a+b`, to lay over several; each must replace a different door.
    #[arg(long = "system", value_name = "SYSTEM")]
    pub systems: Vec<String>,
}

impl MachineChoice {
    /// Loads the machine, lays the systems over it and applies the `--set` overrides.
    ///
    /// # Errors
    /// What is wrong with a file or an override, with file, line and column where known.
    pub fn load(&self, overrides: &[String]) -> Result<Machine, String> {
        Machine::load_with(&self.machine, &self.systems, overrides).map_err(|error| error.to_string())
    }
}
