//! `strata workload extended-llc`: launch files that measure the extended LLC's kernel by itself.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use strata_gpu::device::ReferenceDevice;
use strata_gpu::extended_llc::{self, Characterisation, Network};
use strata_gpu::machine::Machine;
use strata_workloads::recording::Recording;
use strata_workloads::{HostProgram, launch_file};

use crate::{Finished, print};

/// Arguments of `strata workload extended-llc`.
#[derive(Args)]
pub struct ExtendedLlcArguments {
    /// Folder to write to; created if it does not exist.
    folder: PathBuf,
    /// Machine whose storage and warp slots the sets share out.
    #[arg(long, default_value = "rtx3080")]
    machine: String,
    /// Where sets keep their blocks.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "registers,shared-memory,l1d")]
    places: Vec<Place>,
    /// Numbers of warps on an SM, each with a set.
    #[arg(long, value_delimiter = ',', default_value = "1,8,16,32,48")]
    warps: Vec<u32>,
    /// Reads of each set.
    #[arg(long, default_value_t = 1000)]
    reads: u32,
    /// Leave the network out: warps have requests to read in a register, and keep the answers.
    #[arg(long)]
    ideal_network: bool,
}

/// Where sets keep their blocks.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Place {
    /// In registers.
    Registers,
    /// In shared memory.
    SharedMemory,
    /// In the L1D, beside no shared memory.
    L1d,
}

impl From<Place> for extended_llc::SetPlace {
    fn from(place: Place) -> extended_llc::SetPlace {
        match place {
            Place::Registers => extended_llc::SetPlace::Registers,
            Place::SharedMemory => extended_llc::SetPlace::SharedMemory,
            Place::L1d => extended_llc::SetPlace::L1d,
        }
    }
}

/// Writes a folder for each place and number of warps, and prints what their sets hold.
///
/// # Errors
/// An unknown machine, numbers that do not fit it, or a folder that cannot be written.
pub fn extended_llc(arguments: &ExtendedLlcArguments) -> Result<Finished, String> {
    let machine = &Machine::load(&arguments.machine, &[]).map_err(|error| error.to_string())?;
    let network = if arguments.ideal_network { Network::Ideal } else { Network::Modelled };
    for place in arguments.places.iter().map(|place| extended_llc::SetPlace::from(*place)) {
        for &warps in &arguments.warps {
            let program = Characterisation::new(machine, place, warps, arguments.reads, network)?;
            let folder = arguments.folder.join(format!("{}-{warps}", place.name()));
            write(&program, machine, &folder)?;
            let file = folder.join(launch_file::FILE_NAME);
            print(&format!("{}: {} KiB an SM\n", file.display(), program.capacity_bytes(warps) >> 10))?;
        }
    }
    Ok(Finished::Well)
}

/// Writes a program's launch file, with results that the reference executor has reached, too.
fn write(program: &Characterisation, machine: &Machine, folder: &Path) -> Result<(), String> {
    let mut device = ReferenceDevice::for_program(program, machine)?;
    let mut recording = Recording::new(&mut device);
    let outcome = program.run(&mut recording).map_err(|error| error.to_string())?;
    if !outcome.passed() {
        return Err(format!("{}: the reference executor's results are wrong: {outcome}", program.name()));
    }
    launch_file::write(program.name(), program.module(), &recording, &outcome, folder)
        .map_err(|error| error.to_string())
}
