//! `strata workload extended-llc`: launch files that measure the extended LLC's kernel by itself.

use std::path::PathBuf;

use clap::Args;
use strata_gpu::device::ReferenceDevice;
use strata_gpu::extended_llc::Characterisation;
use strata_gpu::machine::Machine;
use strata_workloads::recording::Recording;
use strata_workloads::{HostProgram, launch_file};

use crate::{Finished, print};

/// Arguments of `strata workload extended-llc`.
#[derive(Args)]
pub struct ExtendedLlcArguments {
    /// Folder to write to; created if it does not exist.
    folder: PathBuf,
    /// Machine whose registers and warp slots the sets share out.
    #[arg(long, default_value = "rtx3080")]
    machine: String,
    /// Numbers of warps on an SM, each with a set.
    #[arg(long, value_delimiter = ',', default_value = "1,8,16,32,48")]
    warps: Vec<u32>,
    /// Reads of each set.
    #[arg(long, default_value_t = 1000)]
    reads: u32,
}

/// Writes a folder for each number of warps, and prints what their sets hold.
///
/// # Errors
/// An unknown machine, numbers that do not fit it, or a folder that cannot be written.
pub fn extended_llc(arguments: &ExtendedLlcArguments) -> Result<Finished, String> {
    let machine = &Machine::load(&arguments.machine, &[]).map_err(|error| error.to_string())?;
    for &warps in &arguments.warps {
        let program = Characterisation::new(machine, warps, arguments.reads)?;
        let mut device = ReferenceDevice::for_program(&program, machine)?;
        let mut recording = Recording::new(&mut device);
        let outcome = program.run(&mut recording).map_err(|error| error.to_string())?;
        if !outcome.passed() {
            return Err(format!("{}: the reference executor's results are wrong: {outcome}", program.name()));
        }
        let folder = arguments.folder.join(format!("{warps}-warps"));
        launch_file::write(program.name(), program.module(), &recording, &outcome, &folder)
            .map_err(|error| error.to_string())?;
        let file = folder.join(launch_file::FILE_NAME);
        print(&format!("{}: {} KiB an SM\n", file.display(), program.capacity_bytes(warps) >> 10))?;
    }
    Ok(Finished::Well)
}
