//! The reference executor as a device that goes forward to a place in a run, and notes what the host reads.

use strata_ptx::reference::Summary;
use strata_workloads::{DeviceError, Module};

use super::card::{Backend, Call};
use super::forward::{Forward, Step};
use super::heap::Buffer;
use super::module::{Log, ModuleDevice};
use super::reference::AMPLE_BYTES;
use crate::checkpoint::{Answer, Checkpoint, Identity, Image};
use crate::position::Position;
use crate::progress::Progress;
use crate::results::PhaseResult;

/// Goes forward to a place in a run and stops there.
pub struct Recorder {
    forward: Forward,
    launches: u64,
    reached: Option<Position>,
    /// What the host had read until then.
    answers: Vec<Answer>,
}

/// A device that goes forward to a place.
pub type RecordingDevice<'a> = ModuleDevice<Recorder, Told<'a>>;

/// Says how far a device has got.
pub struct Told<'a> {
    progress: &'a mut dyn FnMut(&Progress),
    launch: u64,
}

impl<'a> RecordingDevice<'a> {
    /// A device on which a module is loaded.
    ///
    /// # Errors
    /// What is wrong with the module, or that its variables do not fit.
    pub(crate) fn new(
        forward: Forward,
        module: Module<'_>,
        compile: strata_ptx::back::Options,
        progress: &'a mut dyn FnMut(&Progress),
    ) -> Result<RecordingDevice<'a>, String> {
        let recorder = Recorder { forward, launches: 0, reached: None, answers: Vec::new() };
        ModuleDevice::load(recorder, module, compile, Told { progress, launch: 0 })
    }

    /// What is wrong, if the program has ended and a checkpoint before the place was not reached.
    pub(crate) fn missed(&self) -> Option<String> {
        self.card.backend().forward.missed()
    }

    /// Thread instructions executed so far.
    pub(crate) fn thread_instructions(&self) -> u64 {
        self.card.backend().forward.executed().thread_instructions
    }

    /// The checkpoint, once the place is reached.
    pub(crate) fn take_checkpoint(&mut self, of: Identity) -> Option<Checkpoint> {
        let recorder = self.card.backend_mut();
        let at = recorder.reached.take()?;
        let (executed, image) = (recorder.forward.executed(), Image::of(recorder.forward.memory()));
        Some(Checkpoint { of, at, executed, answers: std::mem::take(&mut recorder.answers), image })
    }
}

impl Backend for Recorder {
    type Done = Summary;

    fn capacity_bytes(&self) -> u64 {
        AMPLE_BYTES
    }

    fn open(&mut self, buffer: &Buffer, fresh: bool) {
        self.forward.open(buffer, fresh);
    }

    fn close(&mut self, buffer: &Buffer) {
        self.forward.close(buffer);
    }

    fn write(&mut self, at: u64, data: &[u8]) {
        self.forward.write(at, data);
    }

    fn read(&mut self, at: u64, data: &mut [u8]) {
        self.forward.read(at, data);
    }

    fn copy(&mut self, to: u64, from: u64, bytes: u64) {
        self.forward.copy(to, from, bytes);
    }

    fn run(&mut self, call: &Call<'_>, _: &mut dyn FnMut(&Progress)) -> Result<Summary, DeviceError> {
        if self.reached.is_none() {
            match self.forward.launch(call, self.launches)? {
                Step::Passed(done) => {
                    self.launches += 1;
                    return Ok(done);
                }
                Step::Here { at, .. } => {
                    (self.reached, self.answers) = (Some(at), self.forward.take_answers());
                }
            }
        }
        Err(DeviceError::Enough { kernel: call.kernel.name.clone() })
    }

    fn run_on_cpu(
        &mut self,
        call: &Call<'_>,
        _: &mut dyn FnMut(&Progress),
    ) -> Result<PhaseResult, DeviceError> {
        self.forward.phase(call)
    }
}

impl Log<Recorder> for Told<'_> {
    fn warn(&mut self, kernel: &str, warnings: Vec<String>) {
        (self.progress)(&Progress { kernel: kernel.to_owned(), warnings, ..Progress::default() });
    }

    fn progress(&mut self) -> &mut dyn FnMut(&Progress) {
        &mut self.progress
    }

    fn add(&mut self, _: Summary, recorder: &mut Recorder) {
        self.launch = recorder.launches;
        (self.progress)(&Progress { launch: self.launch, ..Progress::default() });
    }

    fn add_phase(&mut self, _: PhaseResult, _: &mut Recorder) {}
}
