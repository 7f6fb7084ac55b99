//! The machine that a command works on.

use clap::Args;
use strata_gpu::machine::Machine;

/// A machine and the systems laid over it.
#[derive(Args)]
pub struct MachineChoice {
    /// The machine: a name (see `strata list machines`) or a machine file.
    #[arg(long, default_value = "gtx480")]
    pub machine: String,
    /// A system laid over the machine: a name (see `strata list systems`) or a system's file. Several, given one by
    /// one or as `a+b`, must replace different doors.
    #[arg(long = "system", value_name = "SYSTEM")]
    pub systems: Vec<String>,
}

impl MachineChoice {
    /// Reads the machine and applies `--set` overrides.
    pub fn load(&self, overrides: &[String]) -> Result<Machine, String> {
        Machine::load_with(&self.machine, &self.systems, overrides).map_err(|error| error.to_string())
    }
}
