//! The backend that runs kernels: the modelled GPU or the reference executor, as configured.

use strata_engine::Cycle;
use strata_gpu::Progress;
use strata_gpu::device::{Backend, Buffer, Call, Functional, Modelled, ModuleId};
use strata_gpu::gpu::{Gpu, GpuOptions, Makers};
use strata_gpu::results::LaunchResult;
use strata_ptx::reference::{Options, Summary};
use strata_workloads::DeviceError;

use crate::check::Check;
use crate::settings::{Mode, Settings};
use crate::stop::STOP;
use crate::timed::Timed;

/// The backend that runs kernels.
pub enum Engine {
    /// The modelled GPU, with timing.
    Timed(Box<Timed>),
    /// The reference executor, without timing.
    Functional(Box<Functional>),
}

/// Result of a launch.
pub enum Launched {
    /// A launch on the modelled GPU.
    Timed(Box<LaunchResult>),
    /// A launch on the reference executor.
    Functional(Box<Summary>),
}

impl Engine {
    /// Builds the backend that the settings ask for.
    ///
    /// # Errors
    /// Why the machine cannot be built.
    pub fn new(settings: &Settings) -> Result<Engine, String> {
        let bytes = *settings.machine.file().gpu.memory_mib << 20;
        let options = Options { interrupt: Some(&STOP), ..Options::default() };
        let reference = || Functional::new(bytes, options);
        let check = match settings.mode {
            Mode::Functional => return Ok(Engine::Functional(Box::new(reference()))),
            Mode::Check => Some(Check::new(reference())),
            Mode::Timing => None,
        };
        let options = GpuOptions {
            threads: settings.threads,
            saves_threads: true,
            window: None,
            limit: settings.max_cycles.map_or(Cycle::NEVER, Cycle),
            interrupt: Some(&STOP),
        };
        let (makers, queues) = Makers::default().breaking_down(&settings.machine, &settings.by)?;
        let gpu = Gpu::with(&settings.machine, options, makers)?;
        let mut gpu = Modelled::new(gpu, &settings.machine)?;
        gpu.break_down(&settings.by);
        if let Some(queues) = queues {
            gpu.watch_queues(queues);
        }
        if settings.timeline.is_some() {
            gpu.sample_every(settings.span);
        }
        Ok(Engine::Timed(Box::new(Timed::new(gpu, check))))
    }

    /// Core cycles of all launches; `None` without timing.
    pub fn cycles(&self) -> u64 {
        match self {
            Engine::Timed(engine) => engine.gpu.cycles(),
            Engine::Functional(_) => 0,
        }
    }
}

macro_rules! either {
    ($self:ident, $engine:ident => $what:expr) => {
        match $self {
            Engine::Timed($engine) => $what,
            Engine::Functional($engine) => $what,
        }
    };
}

impl Backend for Engine {
    type Done = Launched;

    fn capacity_bytes(&self) -> u64 {
        either!(self, engine => engine.capacity_bytes())
    }

    fn floor(&self) -> u64 {
        either!(self, engine => engine.floor())
    }

    fn open(&mut self, buffer: &Buffer, fresh: bool) {
        either!(self, engine => engine.open(buffer, fresh));
    }

    fn close(&mut self, buffer: &Buffer) {
        either!(self, engine => engine.close(buffer));
    }

    fn write(&mut self, at: u64, data: &[u8]) {
        either!(self, engine => engine.write(at, data));
    }

    fn read(&mut self, at: u64, data: &mut [u8]) {
        either!(self, engine => engine.read(at, data));
    }

    fn synchronize(&mut self) {
        either!(self, engine => engine.synchronize());
    }

    fn run(&mut self, call: &Call<'_>, progress: &mut dyn FnMut(&Progress)) -> Result<Launched, DeviceError> {
        match self {
            Engine::Timed(engine) => Ok(Launched::Timed(Box::new(engine.run(call, progress)?))),
            Engine::Functional(engine) => {
                engine.run(call, progress).map(|summary| Launched::Functional(Box::new(summary)))
            }
        }
    }

    fn forget(&mut self, module: ModuleId) {
        either!(self, engine => engine.forget(module));
    }
}
