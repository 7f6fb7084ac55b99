//! The options of `strata run` that say which part of a run is measured, and those of checkpoints.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgGroup, Args};
use strata_gpu::checkpoint::{Checkpoint, Identity};
use strata_gpu::machine::Machine;
use strata_gpu::region::{Most, Region};
use strata_gpu::results::Provenance;
use strata_gpu::{SaveRequest, save as save_checkpoint};
use strata_workloads::HostProgram;

use crate::progress::Bar;
use crate::{Finished, interrupt, print};

/// Options that say which part of a run is measured.
#[derive(Args)]
#[command(group(
    ArgGroup::new("begin").args(["from_launch", "from_cta", "from_instruction", "from_checkpoint"]).multiple(true)
))]
#[command(group(
    ArgGroup::new("bound").args(["to_launch", "for_ctas", "for_cycles", "for_instructions"]).multiple(true)
))]
pub struct RegionArguments {
    /// Measure only from this launch on, counted from 0. Earlier ones run on the reference executor, in no time.
    #[arg(long, value_name = "N")]
    from_launch: Option<u64>,
    /// Measure only from this CTA of the first launch on, counted from 0 in the order in which CTAs start. Earlier ones run on the
    /// reference executor.
    #[arg(long, value_name = "N")]
    from_cta: Option<u64>,
    /// Measure only from the first CTA on that begins after this many thread instructions, counted over all launches.
    #[arg(long, value_name = "N", conflicts_with_all = ["from_launch", "from_cta"])]
    from_instruction: Option<u64>,
    /// Simulate everything before the first CTA measured, too, so that it finds the caches as that leaves them.
    #[arg(long, requires = "begin", conflicts_with = "warm_ctas")]
    warm: bool,
    /// Simulate this many CTAs of the first launch before the first measured, too, to warm the caches.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "begin")]
    warm_ctas: u64,
    /// Measure only up to this launch, and end the run after it.
    #[arg(long, value_name = "N")]
    to_launch: Option<u64>,
    /// Measure this many CTAs, and end the run after them.
    #[arg(long, value_name = "N")]
    for_ctas: Option<u64>,
    /// Start no more CTAs after this many measured core cycles, and end the run with those that have started.
    #[arg(long, value_name = "CYCLES")]
    for_cycles: Option<u64>,
    /// Start no more CTAs after this many measured thread instructions, and end the run with those that have started.
    #[arg(long, value_name = "N")]
    for_instructions: Option<u64>,
    /// Execute what comes after the part measured, too, on the reference executor, so that the program's results are compared.
    #[arg(long, requires = "bound")]
    finish: bool,
    /// Measure only launches of this kernel.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Measure nothing: write the state of the program where the part measured would begin to this file, for
    /// `--from-checkpoint`.
    #[arg(long, value_name = "FILE", requires = "begin", conflicts_with_all = [
        "warm", "warm_ctas", "bound", "check", "schedule", "json", "timeline", "out", "trace", "by", "shown", "dumped", "max_cycles",
    ])]
    checkpoint: Option<PathBuf>,
    /// Begin with the state in this file, which `--checkpoint` wrote, on this machine or another. Measure from there on, or
    /// from a later place that other options name.
    #[arg(long, value_name = "FILE")]
    from_checkpoint: Option<PathBuf>,
}

impl RegionArguments {
    /// The part of the run that is measured.
    pub fn region(&self) -> Region {
        Region {
            from: self.from_launch,
            from_cta: self.from_cta,
            from_instruction: self.from_instruction,
            to: self.to_launch,
            kernel: self.kernel.clone(),
            warm: self.warm,
            warm_ctas: self.warm_ctas,
            most: Most { ctas: self.for_ctas, cycles: self.for_cycles, instructions: self.for_instructions },
            finish: self.finish,
        }
    }

    /// Name of the kernel that is measured.
    pub fn kernel(&self) -> Option<&str> {
        self.kernel.as_deref()
    }

    /// The file that a checkpoint goes to.
    pub fn checkpoint(&self) -> Option<&Path> {
        self.checkpoint.as_deref()
    }

    /// The file that a checkpoint comes from.
    pub fn from_checkpoint(&self) -> Option<&Path> {
        self.from_checkpoint.as_deref()
    }

    /// The checkpoint that the run begins with.
    ///
    /// # Errors
    /// The file, and what is wrong with it.
    pub fn start(&self) -> Result<Option<Arc<Checkpoint>>, String> {
        self.from_checkpoint.as_deref().map(|path| Checkpoint::read(path).map(Arc::new)).transpose()
    }
}

/// Writes a checkpoint of a program, at a size if it has several.
///
/// # Errors
/// A program that does not come to the place, or a file that cannot be written.
pub fn save(
    arguments: &RegionArguments,
    path: &Path,
    (program, size): (&dyn HostProgram, Option<String>),
    machine: &Machine,
    provenance: Provenance,
) -> Result<Finished, String> {
    let bar = Bar::new(program.name());
    let Provenance { ptx, inputs, .. } = provenance;
    let checkpoint = save_checkpoint(SaveRequest {
        program,
        of: Identity { program: program.name().to_owned(), size, ptx, inputs },
        machine,
        region: &arguments.region(),
        start: arguments.start()?,
        interrupt: Some(interrupt::flag()),
        progress: &mut |progress| progress.warnings.iter().for_each(|warning| bar.warn(warning)),
    });
    bar.finish();
    let checkpoint = checkpoint?;
    let bytes = checkpoint.write(path)?;
    let (at, executed) = (checkpoint.at, checkpoint.executed.thread_instructions);
    let path = path.display();
    print(&format!("{path}: {at}, after {executed} thread instructions ({bytes} bytes)\n"))?;
    Ok(Finished::Well)
}
