//! The reference executor as a device of host programs.

use strata_ptx::reference::Options;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, HostProgram, Module, Shape};

use super::arguments::parameter_block;
use super::card::{Card, ModuleId, not_launched};
use super::functional::Functional;
use super::heap::Buffer;
use crate::machine::Machine;
use crate::profile::Profile;
use crate::program::Program;

/// Device memory of a program that names no machine: more than any of ours asks for.
const AMPLE_BYTES: u64 = 64 << 30;

/// A device that executes kernels functionally.
pub struct ReferenceDevice {
    card: Card<Functional>,
    module: ModuleId,
    warp_instructions: u64,
    thread_instructions: u64,
    printed: String,
}

impl ReferenceDevice {
    /// A device with `capacity_bytes` of memory and a module loaded.
    ///
    /// # Errors
    /// What is wrong with the module, or that its variables do not fit.
    pub fn new(
        module: Module<'_>,
        compile: strata_ptx::back::Options,
        capacity_bytes: u64,
        options: Options,
    ) -> Result<ReferenceDevice, String> {
        let mut card = Card::new(Functional::new(capacity_bytes, options));
        let program = Program::parse(module, compile).map_err(|error| error.to_string())?;
        let module = card.load(program).map_err(|error| error.to_string())?;
        let printed = String::new();
        Ok(ReferenceDevice { card, module, warp_instructions: 0, thread_instructions: 0, printed })
    }

    /// A device with all the memory that a program may want, for a program's module. Kernels are compiled as for the
    /// machine, so that they execute the same instructions there and here.
    ///
    /// # Errors
    /// What is wrong with the module.
    pub fn for_program(program: &dyn HostProgram, machine: &Machine) -> Result<ReferenceDevice, String> {
        ReferenceDevice::new(program.module(), machine.compile_options(), AMPLE_BYTES, Options::default())
    }

    /// Watches all launches from now on.
    pub(crate) fn watch(&mut self) {
        self.card.backend_mut().watch();
    }

    /// What was seen, if launches were watched.
    pub(crate) fn into_profile(mut self) -> Option<Profile> {
        self.card.backend_mut().take_profile()
    }

    /// All buffers and variables, by address.
    pub fn buffers(&self) -> &[Buffer] {
        self.card.buffers()
    }

    /// The bytes of a buffer.
    pub fn bytes(&self, buffer: &Buffer) -> &[u8] {
        self.card.backend().bytes(buffer)
    }

    /// The device heap's own variables, which hold what the order of threads made of them.
    pub fn heap_variables(&self) -> Vec<DevicePtr> {
        self.card.heap_variables(self.module)
    }

    /// Warp and thread instructions executed so far.
    pub fn instructions(&self) -> (u64, u64) {
        (self.warp_instructions, self.thread_instructions)
    }

    /// What the kernels printed.
    pub fn printed(&self) -> &str {
        &self.printed
    }
}

impl Device for ReferenceDevice {
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
        let summary = self.card.launch(&entry, shape, &params, &mut |_| {})?;
        self.warp_instructions += summary.counts.warp_instructions;
        self.thread_instructions += summary.counts.thread_instructions;
        self.printed.push_str(&summary.printed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_workloads::Size;

    #[test]
    fn every_workload_is_right_at_test_size() {
        for workload in strata_workloads::all() {
            let program = workload.program(Size::Test).expect("every workload has it");
            let mut device =
                ReferenceDevice::new(program.module(), Default::default(), 1 << 32, Options::default())
                    .unwrap_or_else(|error| panic!("{}: {error}", workload.name));
            let outcome =
                program.run(&mut device).unwrap_or_else(|error| panic!("{}: {error}", workload.name));
            assert!(outcome.passed(), "{}: {outcome}", workload.name);
        }
    }
}
