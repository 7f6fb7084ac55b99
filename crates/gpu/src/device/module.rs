//! A card with one module loaded, as a device for host programs.

use std::sync::Arc;

use strata_ptx::program::Kernel;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, Module, Shape};

use super::arguments::parameter_block;
use super::card::{Backend, Card, Entry, ModuleId, not_launched};
use super::heap::Buffer;
use crate::program::Program;
use crate::progress::Progress;
use crate::results::PhaseResult;

/// Collects what a device reports about its launches.
pub trait Log<B: Backend> {
    /// Called before each launch or host phase.
    fn begin(&mut self, backend: &mut B) {
        let _ = backend;
    }

    /// Takes what is dubious about a kernel, before its first launch.
    fn warn(&mut self, kernel: &str, warnings: Vec<String>) {
        let _ = (kernel, warnings);
    }

    /// The callback that is told how far a launch has got.
    fn progress(&mut self) -> &mut dyn FnMut(&Progress);

    /// Records a launch that succeeded.
    fn add(&mut self, done: B::Done, backend: &mut B);

    /// Records a host phase that succeeded.
    fn add_phase(&mut self, done: PhaseResult, backend: &mut B);
}

/// Registers named for each kernel.
const MOST_NAMED: usize = 4;

/// A card with one module loaded. Host programs run on it through the [`Device`] trait.
pub struct ModuleDevice<B: Backend, L> {
    pub(super) card: Card<B>,
    pub(super) module: ModuleId,
    pub(super) log: L,
    /// The kernels launched so far, in order.
    launched: Vec<Arc<Kernel>>,
}

impl<B: Backend, L> ModuleDevice<B, L> {
    /// Creates a card over `backend` and loads a module.
    ///
    /// # Errors
    /// What is wrong with the module, or that its variables do not fit.
    pub(super) fn load(
        backend: B,
        module: Module<'_>,
        compile: strata_ptx::back::Options,
        log: L,
    ) -> Result<ModuleDevice<B, L>, String> {
        let mut card = Card::new(backend);
        let program = Program::parse(module, compile).map_err(|error| error.to_string())?;
        let module = card.load(program).map_err(|error| error.to_string())?;
        Ok(ModuleDevice { card, module, log, launched: Vec::new() })
    }

    fn program(&self) -> &Program {
        self.card.program(self.module).expect("the module is loaded")
    }

    /// Names of the module's kernels, in the text's order.
    pub fn kernel_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.program().kernel_names()
    }

    /// What may have made results wrong, a sentence each: registers that the kernels launched so far read where they may
    /// have no value.
    pub fn undefined(&self) -> Vec<String> {
        let reads = |kernel: &Arc<Kernel>| -> Vec<String> {
            let is_certain = kernel.undefined.iter().any(|read| read.always);
            let reads = kernel.undefined.iter().filter(|read| read.always || !is_certain);
            reads.take(MOST_NAMED).map(|read| read.describe(kernel)).collect()
        };
        self.launched.iter().flat_map(reads).collect()
    }

    /// All buffers and variables, sorted by address.
    pub fn buffers(&self) -> &[Buffer] {
        self.card.buffers()
    }
}

impl<B: Backend, L: Log<B>> ModuleDevice<B, L> {
    /// A kernel of the module, for a launch or host phase.
    fn kernel(&mut self, name: &str) -> Result<Entry, DeviceError> {
        let entry = self.card.kernel(self.module, name).map_err(|error| not_launched(name, error))?;
        if !self.launched.iter().any(|known| Arc::ptr_eq(known, &entry.kernel)) {
            self.launched.push(entry.kernel.clone());
            let warnings = self.program().warnings(&entry.kernel);
            if !warnings.is_empty() {
                self.log.warn(name, warnings);
            }
        }
        Ok(entry)
    }
}

impl<B: Backend, L: Log<B>> Device for ModuleDevice<B, L> {
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
        let entry = self.kernel(kernel)?;
        let params = parameter_block(&entry.kernel, shape, args)?;
        self.log.begin(self.card.backend_mut());
        let done = self.card.launch(&entry, shape, &params, self.log.progress())?;
        self.log.add(done, self.card.backend_mut());
        Ok(())
    }

    fn on_cpu(&mut self, kernel: &str, threads: u32, args: &[Arg]) -> Result<(), DeviceError> {
        let entry = self.kernel(kernel)?;
        let params = parameter_block(&entry.kernel, Shape::of_phase(threads), args)?;
        self.log.begin(self.card.backend_mut());
        let done = self.card.on_cpu(&entry, threads, &params, self.log.progress())?;
        self.log.add_phase(done, self.card.backend_mut());
        Ok(())
    }
}
