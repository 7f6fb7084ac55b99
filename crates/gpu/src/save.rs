//! Makes checkpoints: a program runs on the reference executor until a place, and its state is kept.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use strata_ptx::reference::{GlobalMemory, Options};
use strata_workloads::{DeviceError, HostProgram};

use crate::checkpoint::{Checkpoint, Identity};
use crate::device::{Forward, RecordingDevice};
use crate::machine::Machine;
use crate::progress::Progress;
use crate::region::Region;

/// What to make a checkpoint of.
pub struct SaveRequest<'a> {
    /// The program.
    pub program: &'a dyn HostProgram,
    /// The program for whoever goes on from the checkpoint.
    pub of: Identity,
    /// The machine that the program is compiled for. Any machine can go on from the checkpoint.
    pub machine: &'a Machine,
    /// The place: where this region begins.
    pub region: &'a Region,
    /// An earlier checkpoint to go on from.
    pub start: Option<Arc<Checkpoint>>,
    /// Set from outside to stop the run.
    pub interrupt: Option<&'static AtomicBool>,
    /// Called after each launch, and with warnings.
    pub progress: &'a mut dyn FnMut(&Progress),
}

/// Runs a program on the reference executor until a place.
///
/// # Errors
/// If the program does not come there.
pub fn save(request: SaveRequest<'_>) -> Result<Checkpoint, String> {
    let SaveRequest { program, of, machine, region, start, interrupt, progress } = request;
    if !region.has_begin() {
        return Err("a checkpoint: expected --from-launch, --from-cta or --from-instruction with it".into());
    }
    if region.warm || region.warm_ctas > 0 {
        return Err("a checkpoint holds no caches: expected no --warm and no --warm-ctas with it".into());
    }
    let region = from_checkpoint(region.clone(), start.as_deref(), &of)?;
    let options = Options { interrupt, ..Options::default() };
    let mut forward = Forward::to_region(&region, GlobalMemory::new(), options, start);
    forward.note_answers();
    let module = program.module();
    let mut device = RecordingDevice::new(forward, module, machine.compile_options(), progress)?;
    region.check(device.kernel_names(), program.plan().as_ref())?;
    let ended = program.run(&mut device);
    if let Some(checkpoint) = device.take_checkpoint(of) {
        return Ok(checkpoint);
    }
    match ended {
        Err(error) if !matches!(error, DeviceError::Enough { .. }) => Err(error.to_string()),
        _ => Err(device.missed().unwrap_or_else(|| not_reached(&region, device.thread_instructions()))),
    }
}

/// A region whose run begins with a checkpoint of this program, if there is one. Without a place of its own it begins there.
///
/// # Errors
/// Another program, or a place before the checkpoint.
pub(crate) fn from_checkpoint(
    region: Region,
    checkpoint: Option<&Checkpoint>,
    runs: &Identity,
) -> Result<Region, String> {
    let Some(checkpoint) = checkpoint else { return Ok(region) };
    checkpoint.check(runs)?;
    let at = checkpoint.at;
    if !region.has_begin() {
        return Ok(region.beginning_at(at));
    }
    let executed = checkpoint.executed.thread_instructions;
    match (region.begin(), region.from_instruction) {
        (Some(begin), _) if begin < at => {
            Err(format!("the run begins at {begin}, expected no place before the checkpoint's, {at}"))
        }
        (None, Some(instructions)) if instructions < executed => Err(format!(
            "--from-instruction {instructions}: expected at least {executed}, those before the checkpoint"
        )),
        _ => Ok(region),
    }
}

/// The program ended before a place.
pub(crate) fn not_reached(region: &Region, executed: u64) -> String {
    match (region.from_instruction, region.begin()) {
        (Some(instructions), _) => format!(
            "--from-instruction {instructions}: the program ends with its launch before that, after {executed} thread instructions"
        ),
        (None, begin) => format!("the program ends before {}", begin.unwrap_or_default()),
    }
}
