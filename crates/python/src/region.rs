//! The part of a run that is measured, and checkpoints.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use pyo3::prelude::*;
use strata_gpu::checkpoint::{Checkpoint, Identity};
use strata_gpu::region::{Most, Region};
use strata_gpu::{SaveRequest, save};

use crate::machine::Machine;
use crate::program::{Loaded, Program};
use crate::refused;
use crate::running::{Ended, Stopped, during};

/// Which part of a run is measured, and the checkpoint that it begins with.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Part {
    from_launch: Option<u64>,
    from_cta: Option<u64>,
    from_instruction: Option<u64>,
    from_checkpoint: Option<PathBuf>,
    to_launch: Option<u64>,
    for_ctas: Option<u64>,
    for_cycles: Option<u64>,
    for_instructions: Option<u64>,
    kernel: Option<String>,
    warm: bool,
    warm_ctas: u64,
    finish: bool,
}

impl Part {
    /// The part as a run knows it.
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

    /// The checkpoint that the run begins with.
    ///
    /// # Errors
    /// The file, and what is wrong with it.
    pub fn start(&self) -> Result<Option<Arc<Checkpoint>>, String> {
        self.from_checkpoint.as_deref().map(|path| Checkpoint::read(path).map(Arc::new)).transpose()
    }
}

/// Writes the state of a program where a part of its run begins to a file. Gives launch, CTA and thread instructions before it.
#[pyfunction]
pub fn checkpoint(
    py: Python<'_>,
    program: &Program,
    machine: &Machine,
    part: Part,
    path: PathBuf,
    cancel: Option<Bound<'_, PyAny>>,
) -> PyResult<(u64, u64, u64)> {
    let work = |stop, _: Sender<()>| {
        let Loaded { program, launch_file, identity, size, .. } = program.load()?;
        let checkpoint = save(SaveRequest {
            program: program.as_ref(),
            of: Identity {
                program: program.name().to_owned(),
                size: launch_file.is_none().then(|| size.name().to_owned()),
                ptx: identity.ptx,
                inputs: identity.inputs,
            },
            machine: machine.get(),
            region: &part.region(),
            start: part.start()?,
            interrupt: Some(stop),
            progress: &mut |_| (),
        })?;
        checkpoint.write(&path)?;
        Ok((checkpoint.at.launch, checkpoint.at.cta, checkpoint.executed.thread_instructions))
    };
    let Ended { value, stopped } = during(py, cancel.as_ref(), work, |()| Ok(()));
    match stopped {
        Some(Stopped::Raised(raised)) => Err(raised),
        _ => value.map_err(|reason: String| refused(reason)),
    }
}
