//! The modelled GPU as a device for host programs.

use std::sync::Arc;

use strata_engine::statistics::Group;
use strata_workloads::{DevicePtr, Module};

use super::heap::Buffer;
use super::modelled::Modelled;
use super::module::{Log, ModuleDevice};
use crate::checkpoint::Checkpoint;
use crate::energy::EnergyReport;
use crate::gpu::{Gpu, GpuOptions};
use crate::machine::Machine;
use crate::progress::Progress;
use crate::region::Region;
use crate::results::{LaunchResult, PhaseResult};

/// A modelled GPU with a module loaded.
pub type TimedDevice<'a> = ModuleDevice<Modelled, Launches<'a>>;

/// Called with the launches and the host phases so far, and the GPU that ran them.
pub type SoFar<'a> = &'a mut dyn FnMut(&[LaunchResult], &[PhaseResult], &mut Modelled);

/// The launches and host phases of a device so far, and the callbacks for their progress.
pub struct Launches<'a> {
    launches: Vec<LaunchResult>,
    phases: Vec<PhaseResult>,
    progress: &'a mut dyn FnMut(&Progress),
    so_far: Option<SoFar<'a>>,
}

impl Log<Modelled> for Launches<'_> {
    fn begin(&mut self, gpu: &mut Modelled) {
        if let (Some(so_far), [], []) = (&mut self.so_far, &self.launches[..], &self.phases[..]) {
            so_far(&[], &[], gpu);
        }
    }

    fn warn(&mut self, kernel: &str, warnings: Vec<String>) {
        (self.progress)(&Progress { kernel: kernel.to_owned(), warnings, ..Progress::default() });
    }

    fn progress(&mut self) -> &mut dyn FnMut(&Progress) {
        self.progress
    }

    fn add(&mut self, done: LaunchResult, gpu: &mut Modelled) {
        self.launches.push(done);
        self.report(gpu);
    }

    fn add_phase(&mut self, done: PhaseResult, gpu: &mut Modelled) {
        self.phases.push(done);
        self.report(gpu);
    }
}

impl Launches<'_> {
    fn report(&mut self, gpu: &mut Modelled) {
        if let Some(so_far) = &mut self.so_far {
            so_far(&self.launches, &self.phases, gpu);
        }
    }
}

impl<'a> TimedDevice<'a> {
    /// Builds a GPU and loads a module.
    ///
    /// # Errors
    /// What is wrong with the machine or the module.
    pub fn new(
        machine: &Machine,
        module: Module<'_>,
        options: GpuOptions,
        progress: &'a mut dyn FnMut(&Progress),
    ) -> Result<TimedDevice<'a>, String> {
        TimedDevice::on(Gpu::new(machine, options)?, machine, module, progress)
    }

    /// Loads a module on a GPU that was built from `machine`, possibly with custom parts.
    ///
    /// # Errors
    /// What is wrong with the module.
    pub fn on(
        gpu: Gpu,
        machine: &Machine,
        module: Module<'_>,
        progress: &'a mut dyn FnMut(&Progress),
    ) -> Result<TimedDevice<'a>, String> {
        let log = Launches { launches: Vec::new(), phases: Vec::new(), progress, so_far: None };
        ModuleDevice::load(Modelled::new(gpu, machine)?, module, machine.compile_options(), log)
    }

    /// Calls back before the first launch or host phase and after each one from now on.
    pub fn report_to(&mut self, so_far: SoFar<'a>) {
        self.log.so_far = Some(so_far);
    }

    /// The GPU.
    pub fn gpu(&mut self) -> &mut Modelled {
        self.card.backend_mut()
    }

    /// The contents of a buffer, as a host copy would read them.
    pub fn bytes(&mut self, buffer: &Buffer) -> Vec<u8> {
        let mut bytes = vec![0; buffer.bytes as usize];
        self.card.read(DevicePtr(buffer.start), &mut bytes).expect("the buffer is there");
        bytes
    }

    /// Results of the launches so far, in order.
    pub fn launches(&self) -> &[LaunchResult] {
        &self.log.launches
    }

    /// Results of the host phases so far, in order.
    pub fn phases(&self) -> &[PhaseResult] {
        &self.log.phases
    }

    /// What the launch that failed had done until then.
    pub fn stopped(&self) -> Option<&LaunchResult> {
        self.card.backend().stopped()
    }

    /// What the host phase that failed had done until then.
    pub fn stopped_phase(&self) -> Option<&PhaseResult> {
        self.card.backend().stopped_phase()
    }

    /// All counters so far.
    pub fn statistics(&mut self) -> Vec<Group> {
        self.card.backend_mut().statistics()
    }

    /// Energy of all launches so far; `None` if the machine has no energies.
    pub fn energy(&mut self) -> Option<EnergyReport> {
        self.card.backend_mut().energy()
    }

    /// Restricts what is measured to a part of the run, which may begin with a checkpoint.
    pub fn measure_only(&mut self, region: Region, checkpoint: Option<Arc<Checkpoint>>) {
        let buffers = self.card.buffers().to_vec();
        self.card.backend_mut().measure_only(region, checkpoint, &buffers);
    }

    /// Whether a checkpoint has not been reached, so that memory is not what it will be.
    pub fn is_replaying(&self) -> bool {
        self.card.backend().is_replaying()
    }

    /// Samples all later launches every `cycles` cycles.
    pub fn sample_every(&mut self, cycles: u64) {
        self.card.backend_mut().sample_every(cycles);
    }

    /// Host seconds spent in launches.
    pub fn seconds(&self) -> f64 {
        self.card.backend().seconds()
    }

    /// Length of a simulation window in cycles.
    pub fn window(&self) -> u64 {
        self.card.backend().window()
    }
}
