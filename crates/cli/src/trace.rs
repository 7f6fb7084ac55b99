//! A run cycle by cycle, as a file for Perfetto.

use std::path::{Path, PathBuf};

use clap::Args;
use strata_gpu::machine::Machine;
use strata_gpu::trace::{TraceOptions, WINDOW_CYCLES};

use crate::output::Output;

/// What to trace, and where to.
#[derive(Args)]
pub struct TraceArguments {
    /// Write what warps, accesses, packets and DRAM do in each cycle to this file, for <https://ui.perfetto.dev>.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// First core cycle of the trace: of the run or, with --trace-launch, of the launch.
    #[arg(long, value_name = "CYCLE", default_value_t = 0, requires = "trace")]
    trace_from: u64,
    /// Core cycles of the trace.
    #[arg(long, value_name = "N", default_value_t = WINDOW_CYCLES, requires = "trace",
        value_parser = clap::value_parser!(u64).range(1..))]
    trace_cycles: u64,
    /// Trace only this launch, counted from 0.
    #[arg(long, value_name = "N", requires = "trace")]
    trace_launch: Option<u64>,
    /// Trace warps and accesses of these SMs only, such as `0,3`.
    #[arg(long, value_name = "SM", value_delimiter = ',', requires = "trace")]
    trace_sms: Vec<u16>,
    /// Trace every N-th memory request of an SM only, with all of its stages. Counters stay exact.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "trace",
        value_parser = clap::value_parser!(u64).range(1..))]
    trace_sample: u64,
    /// Trace what every N-th warp slot of an SM issues and waits for only.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "trace",
        value_parser = clap::value_parser!(u64).range(1..))]
    trace_sample_warps: u64,
}

impl TraceArguments {
    /// The file.
    pub fn path(&self) -> Option<&Path> {
        self.trace.as_deref()
    }

    /// What is traced on a machine, and the file, if anything is.
    ///
    /// # Errors
    /// An SM that the machine does not have, or a file that cannot be written.
    pub fn prepare(&self, machine: &Machine) -> Result<Option<(TraceOptions, Output)>, String> {
        let Some(path) = self.path() else { return Ok(None) };
        let options = TraceOptions {
            from: self.trace_from,
            cycles: self.trace_cycles,
            launch: self.trace_launch,
            sms: self.trace_sms.clone(),
            sample: self.trace_sample,
            sample_warps: self.trace_sample_warps,
        };
        options.sms(machine).map_err(|error| format!("--trace-sms: {error}"))?;
        Ok(Some((options, Output::new(path)?)))
    }
}

/// Writes a trace.
///
/// # Errors
/// That no launch was in its window, or why the file cannot be written.
pub fn write(mut output: Output, trace: Option<Vec<u8>>) -> Result<(), String> {
    let path = output.path().display().to_string();
    let trace = trace.ok_or_else(|| {
        format!(
            "{path}: no launch ran in the cycles of the trace; --trace-from and --trace-launch choose them"
        )
    })?;
    output.write(&trace)
}
