//! The modelled GPU as a device of host programs.

use strata_engine::statistics::Group;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, Module, Shape};

use super::arguments::parameter_block;
use super::card::{Card, ModuleId, not_launched};
use super::heap::Buffer;
use super::modelled::Modelled;
use crate::Progress;
use crate::energy::EnergyReport;
use crate::gpu::{Gpu, GpuOptions};
use crate::machine::Machine;
use crate::program::Program;
use crate::results::LaunchResult;

/// A modelled GPU with a module loaded.
pub struct TimedDevice<'a> {
    card: Card<Modelled>,
    module: ModuleId,
    launches: Vec<LaunchResult>,
    progress: &'a mut dyn FnMut(&Progress),
}

impl<'a> TimedDevice<'a> {
    /// A GPU with a module loaded. The error says what is wrong with machine or module.
    pub fn new(
        machine: &Machine,
        module: Module<'_>,
        options: GpuOptions,
        progress: &'a mut dyn FnMut(&Progress),
    ) -> Result<TimedDevice<'a>, String> {
        TimedDevice::on(Gpu::new(machine, options)?, machine, module, progress)
    }

    /// A module loaded on a GPU that was built from `machine`, with parts of one's own where wanted.
    ///
    /// # Errors
    /// What is wrong with the module.
    pub fn on(
        gpu: Gpu,
        machine: &Machine,
        module: Module<'_>,
        progress: &'a mut dyn FnMut(&Progress),
    ) -> Result<TimedDevice<'a>, String> {
        let mut card = Card::new(Modelled::new(gpu, machine)?);
        let program = Program::parse(module, machine.compile_options()).map_err(|error| error.to_string())?;
        let module = card.load(program).map_err(|error| error.to_string())?;
        Ok(TimedDevice { card, module, launches: Vec::new(), progress })
    }

    /// All buffers and variables, by address.
    pub fn buffers(&self) -> &[Buffer] {
        self.card.buffers()
    }

    /// The bytes of a buffer, as a host copy sees them.
    pub fn bytes(&mut self, buffer: &Buffer) -> Vec<u8> {
        let mut bytes = vec![0; buffer.bytes as usize];
        self.card.read(DevicePtr(buffer.start), &mut bytes).expect("the buffer is there");
        bytes
    }

    /// The launches so far.
    pub fn launches(&self) -> &[LaunchResult] {
        &self.launches
    }

    /// What was counted so far.
    pub fn statistics(&mut self) -> Vec<Group> {
        self.card.backend_mut().statistics()
    }

    /// Energy of the launches so far; none when the machine has no energies.
    pub fn energy(&mut self) -> Option<EnergyReport> {
        self.card.backend_mut().energy()
    }

    /// From now on launches have samples, every so many cycles.
    pub fn sample_every(&mut self, cycles: u64) {
        self.card.backend_mut().sample_every(cycles);
    }

    /// Host seconds inside launches.
    pub fn seconds(&self) -> f64 {
        self.card.backend().seconds()
    }

    /// Cycles of a window.
    pub fn window(&self) -> u64 {
        self.card.backend().window()
    }
}

impl Device for TimedDevice<'_> {
    fn alloc(&mut self, name: &str, bytes: u64) -> Result<DevicePtr, DeviceError> {
        self.card.alloc(name, bytes)
    }

    fn upload(&mut self, to: DevicePtr, data: &[u8]) -> Result<(), DeviceError> {
        self.card.write(to, data)
    }

    fn download(&mut self, from: DevicePtr, data: &mut [u8]) -> Result<(), DeviceError> {
        self.card.read(from, data)
    }

    fn fill(&mut self, to: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError> {
        self.card.fill(to, value, bytes)
    }

    fn copy(&mut self, to: DevicePtr, from: DevicePtr, bytes: u64) -> Result<(), DeviceError> {
        self.card.copy(to, from, bytes)
    }

    fn variable(&mut self, name: &str) -> Result<DevicePtr, DeviceError> {
        self.card.variable(self.module, name).map(|(ptr, _)| ptr)
    }

    fn launch(&mut self, kernel: &str, shape: Shape, args: &[Arg]) -> Result<(), DeviceError> {
        let entry = self.card.kernel(self.module, kernel).map_err(|error| not_launched(kernel, error))?;
        let params = parameter_block(&entry.kernel, shape, args)?;
        let result = self.card.launch(&entry, shape, &params, self.progress)?;
        self.launches.push(result);
        Ok(())
    }
}
