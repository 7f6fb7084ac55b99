//! `strata workload export`.

use std::path::PathBuf;

use clap::Args;
use strata_gpu::device::ReferenceDevice;
use strata_gpu::machine::Machine;
use strata_workloads::launch_file;
use strata_workloads::recording::Recording;

use super::{named, size};
use crate::{Finished, print};

/// Arguments of `strata workload export`.
#[derive(Args)]
pub struct ExportArguments {
    /// The workload.
    name: String,
    /// Folder to write to; made if need be.
    folder: PathBuf,
    /// The machine that kernels are compiled for: registers and spills are its own.
    #[arg(long, default_value = "gtx480")]
    machine: String,
    /// Size of its input: test, small, paper or stash.
    #[arg(long, default_value = "small")]
    size: String,
}

/// Runs the workload on the reference executor, because what the host does may depend on results, and writes down
/// what it did.
pub fn export(arguments: &ExportArguments) -> Result<Finished, String> {
    let ExportArguments { name, folder, size: size_name, machine } = arguments;
    let machine = &Machine::load(machine, &[]).map_err(|error| error.to_string())?;
    let (workload, size) = (named(name)?, size(size_name)?);
    let failed = |error: String| format!("{} --size {size}: {error}", workload.name);
    let program = workload.program(size).map_err(|error| error.to_string())?;
    let mut device = ReferenceDevice::for_program(program.as_ref(), machine).map_err(failed)?;
    let mut recording = Recording::new(&mut device);
    let outcome = program.run(&mut recording).map_err(|error| failed(error.to_string()))?;
    if !outcome.passed() {
        return Err(failed(format!("the reference executor's results are wrong: {outcome}")));
    }
    let title = format!("{}-{size}", workload.name);
    launch_file::write(&title, program.module(), &recording, &outcome, folder)
        .map_err(|error| error.to_string())?;
    print(&format!("{}\n", folder.join(launch_file::FILE_NAME).display()))?;
    Ok(Finished::Well)
}
