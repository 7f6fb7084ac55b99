//! `strata workload profile`: what workloads ask of memory and of registers.

use clap::Args;
use serde_json::{Value, json};
use strata_gpu::machine::Machine;
use strata_lab::program::{self, Program};
use strata_workloads::Size;

use super::{selected, size};
use crate::{Finished, print};

/// Arguments of `strata workload profile`.
#[derive(Args)]
pub struct ProfileArguments {
    /// Workloads, launch files (`*.toml`) and folders of launch files to profile. Default: all workloads that have the
    /// size.
    names: Vec<String>,
    /// Machine to compile the kernels for; it decides registers and spills.
    #[arg(long, default_value = "gtx480")]
    machine: String,
    /// Override a value of the machine, as in `sm.register_allocation=separate`. May be repeated.
    #[arg(long = "set", value_name = "DOOR.KEY=VALUE")]
    sets: Vec<String>,
    /// Size of the inputs: test, small or paper; suite, stash or morpheus where it has them.
    #[arg(long, default_value = "small")]
    size: String,
}

/// Prints one JSON object per line, one for each workload.
///
/// # Errors
/// An unknown workload, size or machine, or a run that fails.
pub fn profile(arguments: &ProfileArguments) -> Result<Finished, String> {
    let size = size(&arguments.size)?;
    let machine = Machine::load(&arguments.machine, &arguments.sets).map_err(|error| error.to_string())?;
    let names = match arguments.names.as_slice() {
        [] => selected(&[], size)?.iter().map(|workload| workload.name.to_owned()).collect(),
        names => program::expand(names)?,
    };
    for name in names {
        print(&format!("{}\n", profile_one(&name, size, &machine)?))?;
    }
    Ok(Finished::Well)
}

fn profile_one(name: &str, size: Size, machine: &Machine) -> Result<Value, String> {
    let found = Program::find(name)?;
    let size = found.launch_file().is_none().then_some(size);
    let failed = |error: String| match size {
        Some(size) => format!("{name} --size {size}: {error}"),
        None => format!("{name}: {error}"),
    };
    let program = found.at(size.unwrap_or(Size::Test))?;
    let (profile, outcome) =
        strata_gpu::profile_program(program.as_ref(), machine).map_err(|error| failed(error.to_string()))?;
    if !outcome.passed() {
        return Err(failed(format!("the reference executor's results are wrong: {outcome}")));
    }
    let mut object = profile.to_json();
    object["workload"] = json!(program.name());
    object["size"] = json!(size.map(Size::name));
    Ok(object)
}
