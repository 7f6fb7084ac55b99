//! `strata workload verify`: workloads against their expected results.

use std::time::Instant;

use clap::Args;
use strata_gpu::device::ReferenceDevice;
use strata_gpu::machine::Machine;
use strata_workloads::{Size, Workload};

use super::{selected, size};
use crate::{Finished, print};

/// Arguments of `strata workload verify`.
#[derive(Args)]
pub struct VerifyArguments {
    /// Workloads to verify. Default: all that have the size.
    names: Vec<String>,
    /// Machine to compile the kernels for; it decides registers and spills.
    #[arg(long, default_value = "gtx480")]
    machine: String,
    /// Size of the inputs: test, small or paper; suite, stash or morpheus where it has them.
    #[arg(long, default_value = "small")]
    size: String,
}

/// Prints one line for each workload.
///
/// # Errors
/// An unknown workload, size or machine, or a run that fails.
pub fn verify(arguments: &VerifyArguments) -> Result<Finished, String> {
    let size = size(&arguments.size)?;
    let machine = Machine::load(&arguments.machine, &[]).map_err(|error| error.to_string())?;
    let mut finished = Finished::Well;
    print(&format!("{:<16} {:>18} {:>18} {:>8}\n", "workload", "warp-instr.", "thread-instr.", "seconds"))?;
    for workload in selected(&arguments.names, size)? {
        if !verify_one(workload, size, &machine)? {
            finished = Finished::Wrong;
        }
    }
    Ok(finished)
}

fn verify_one(workload: &'static Workload, size: Size, machine: &Machine) -> Result<bool, String> {
    let failed = |error: String| format!("{} --size {size}: {error}", workload.name);
    let program = workload.program(size).map_err(|error| error.to_string())?;
    let mut device = ReferenceDevice::for_program(program.as_ref(), machine).map_err(failed)?;
    let started = Instant::now();
    let outcome = program.run(&mut device).map_err(|error| failed(error.to_string()))?;
    let (warps, threads) = device.instructions();
    let seconds = started.elapsed().as_secs_f64();
    print(&format!("{:<16} {warps:>18} {threads:>18} {seconds:>8.2}\n", workload.name))?;
    for comparison in outcome.comparisons.iter().filter(|comparison| !comparison.passed()) {
        eprintln!("wrong: {}: {comparison}", workload.name);
    }
    Ok(outcome.passed())
}
