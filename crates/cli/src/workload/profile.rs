//! `strata workload profile`: what workloads ask of memory.

use clap::Args;
use serde_json::{Value, json};
use strata_gpu::machine::Machine;
use strata_workloads::{Size, Workload};

use super::{selected, size};
use crate::{Finished, print};

/// Arguments of `strata workload profile`.
#[derive(Args)]
pub struct ProfileArguments {
    /// Workloads to profile. Default: all that have the size.
    names: Vec<String>,
    /// Machine to compile the kernels for; it decides registers and spills.
    #[arg(long, default_value = "gtx480")]
    machine: String,
    /// Size of the inputs: test, small, paper or stash.
    #[arg(long, default_value = "small")]
    size: String,
}

/// Prints one JSON object per line, one for each workload.
///
/// # Errors
/// An unknown workload, size or machine, or a run that fails.
pub fn profile(arguments: &ProfileArguments) -> Result<Finished, String> {
    let size = size(&arguments.size)?;
    let machine = Machine::load(&arguments.machine, &[]).map_err(|error| error.to_string())?;
    for workload in selected(&arguments.names, size)? {
        print(&format!("{}\n", profile_one(workload, size, &machine)?))?;
    }
    Ok(Finished::Well)
}

fn profile_one(workload: &'static Workload, size: Size, machine: &Machine) -> Result<Value, String> {
    let failed = |error: String| format!("{} --size {size}: {error}", workload.name);
    let program = workload.program(size).map_err(|error| error.to_string())?;
    let (profile, outcome) =
        strata_gpu::profile_program(program.as_ref(), machine).map_err(|error| failed(error.to_string()))?;
    if !outcome.passed() {
        return Err(failed(format!("the reference executor's results are wrong: {outcome}")));
    }
    let mut object = profile.to_json();
    object["workload"] = json!(workload.name);
    object["size"] = json!(size.name());
    Ok(object)
}
