//! `strata workload export`: a built-in workload as a launch file.

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
    /// Name of the workload to export.
    name: String,
    /// Folder to write to; created if it does not exist.
    folder: PathBuf,
    /// Machine to compile the kernels for; it decides registers and spills.
    #[arg(long, default_value = "gtx480")]
    machine: String,
    /// Size of the input: test, small or paper; suite, stash or morpheus where it has them.
    #[arg(long, default_value = "small")]
    size: String,
}

/// Runs the workload on the reference executor and records what the host does, since that may depend on
/// results. Writes the recording as a launch file.
///
/// # Errors
/// An unknown workload, size or machine, a run that fails, or a folder that cannot be written.
pub fn export(arguments: &ExportArguments) -> Result<Finished, String> {
    let ExportArguments { name, folder, size: size_name, machine } = arguments;
    let machine = &Machine::load(machine, &[]).map_err(|error| error.to_string())?;
    let (workload, size) = (named(name)?, size(size_name)?);
    let failed = |error: String| format!("{} --size {size}: {error}", workload.name);
    let program = workload.program(size).map_err(|error| error.to_string())?;
    launch_file::check_folder(folder).map_err(|error| error.to_string())?;
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
