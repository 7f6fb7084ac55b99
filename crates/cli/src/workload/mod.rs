//! `strata workload`: exports, profiles and verifies the built-in workloads.

mod export;
mod extended_llc;
mod profile;
mod verify;

use clap::{Args, Subcommand};
use strata_engine::config::did_you_mean;
use strata_workloads::{Size, Workload};

use crate::{Finished, once};

/// Arguments of `strata workload`.
#[derive(Args)]
pub struct WorkloadArguments {
    #[command(subcommand)]
    command: WorkloadCommand,
}

#[derive(Subcommand)]
enum WorkloadCommand {
    /// Write a workload as a launch file, with its PTX, buffers and expected results.
    #[command(after_help = "Example:\n  strata workload export gemm target/gemm --size test")]
    Export(export::ExportArguments),
    /// Write launch files that measure the kernel of Morpheus's extended LLC by itself, for `strata run` and the probe.
    #[command(after_help = "Example:\n  strata workload extended-llc target/extended-llc --warps 8,32")]
    ExtendedLlc(extended_llc::ExtendedLlcArguments),
    /// Print what workloads ask of memory, independent of the hierarchy, as one line of JSON each.
    #[command(after_help = "Example:\n  strata workload profile gemm --size test")]
    Profile(profile::ProfileArguments),
    /// Run workloads on the reference executor, without timing, and compare with the expected results.
    #[command(after_help = "Example:\n  strata workload verify gemm --size test")]
    Verify(verify::VerifyArguments),
}

/// Runs the chosen `strata workload` subcommand.
///
/// # Errors
/// What the subcommand fails with.
pub fn workload(arguments: &WorkloadArguments) -> Result<Finished, String> {
    match &arguments.command {
        WorkloadCommand::Export(arguments) => export::export(arguments),
        WorkloadCommand::ExtendedLlc(arguments) => extended_llc::extended_llc(arguments),
        WorkloadCommand::Profile(arguments) => profile::profile(arguments),
        WorkloadCommand::Verify(arguments) => verify::verify(arguments),
    }
}

/// The named workloads; with no names, all workloads that have the size.
fn selected(names: &[String], size: Size) -> Result<Vec<&'static Workload>, String> {
    if names.is_empty() {
        return Ok(strata_workloads::all()
            .iter()
            .filter(|workload| workload.input(size).is_some())
            .collect());
    }
    once(names).into_iter().map(|name| named(name)).collect()
}

/// Finds a workload by name.
///
/// # Errors
/// If there is none; the message suggests similar names.
pub fn named(name: &str) -> Result<&'static Workload, String> {
    strata_workloads::find(name).ok_or_else(|| {
        let alike = did_you_mean(name, strata_workloads::all().iter().map(|workload| workload.name));
        format!("no workload `{name}`{alike}, `strata list workloads` shows all")
    })
}

/// Parses the name of a size.
///
/// # Errors
/// If there is no such size; the message lists the sizes.
pub fn size(text: &str) -> Result<Size, String> {
    text.parse().map_err(|error| format!("--size {text}: {error}"))
}
