//! The reference executor as a device for host programs.

use strata_ptx::reference::{Options, Summary};
use strata_workloads::{DevicePtr, HostProgram, Module};

use super::functional::Functional;
use super::heap::Buffer;
use super::module::{Log, ModuleDevice};
use crate::machine::Machine;
use crate::profile::Profile;
use crate::progress::Progress;
use crate::races::Races;
use crate::results::PhaseResult;

/// Device memory when no machine sets a size: more than any built-in workload needs.
pub(super) const AMPLE_BYTES: u64 = 64 << 30;

/// A device that executes kernels functionally, without timing.
pub type ReferenceDevice = ModuleDevice<Functional, Executed>;

/// Instruction counts and printed output of the kernels so far.
#[derive(Clone, Debug)]
pub struct Executed {
    warp_instructions: u64,
    thread_instructions: u64,
    printed: String,
    warnings: Vec<String>,
    /// A progress callback that ignores its argument.
    deaf: fn(&Progress),
}

impl Default for Executed {
    fn default() -> Self {
        Executed {
            warp_instructions: 0,
            thread_instructions: 0,
            printed: String::new(),
            warnings: Vec::new(),
            deaf: |_| {},
        }
    }
}

impl Log<Functional> for Executed {
    fn warn(&mut self, _: &str, warnings: Vec<String>) {
        self.warnings.extend(warnings);
    }

    fn progress(&mut self) -> &mut dyn FnMut(&Progress) {
        &mut self.deaf
    }

    fn add(&mut self, summary: Summary, _: &mut Functional) {
        self.warp_instructions += summary.counts.warp_instructions;
        self.thread_instructions += summary.counts.thread_instructions;
        self.printed.push_str(&summary.printed);
    }

    fn add_phase(&mut self, done: PhaseResult, _: &mut Functional) {
        self.printed.extend(done.printed);
    }
}

impl ReferenceDevice {
    /// A device with `capacity_bytes` bytes of memory and a module loaded.
    ///
    /// # Errors
    /// What is wrong with the module, or that its variables do not fit.
    pub fn new(
        module: Module<'_>,
        compile: strata_ptx::back::Options,
        capacity_bytes: u64,
        options: Options,
    ) -> Result<ReferenceDevice, String> {
        ModuleDevice::load(Functional::new(capacity_bytes, options), module, compile, Executed::default())
    }

    /// A device with ample memory for a program's module. Kernels are compiled as for `machine`, so they
    /// execute the same instructions on both.
    ///
    /// # Errors
    /// What is wrong with the module.
    pub fn for_program(program: &dyn HostProgram, machine: &Machine) -> Result<ReferenceDevice, String> {
        ReferenceDevice::new(program.module(), machine.compile_options(), AMPLE_BYTES, Options::default())
    }

    /// Profiles all launches from now on.
    pub(crate) fn watch(&mut self) {
        self.card.backend_mut().watch();
    }

    /// Returns the profile, if launches were profiled.
    pub(crate) fn into_profile(mut self) -> Option<Profile> {
        self.card.backend_mut().take_profile()
    }

    /// Looks for races in all launches from now on.
    pub(crate) fn watch_races(&mut self) {
        self.card.backend_mut().watch_races();
    }

    /// Returns the races found, if they were looked for.
    pub(crate) fn into_races(mut self) -> Option<Races> {
        self.card.backend_mut().take_races()
    }

    /// The contents of a buffer.
    pub fn bytes(&self, buffer: &Buffer) -> &[u8] {
        self.card.backend().bytes(buffer)
    }

    /// Addresses of the device heap's variables. Their contents depend on the order in which threads
    /// allocate.
    pub fn heap_variables(&self) -> Vec<DevicePtr> {
        self.card.heap_variables(self.module)
    }

    /// Warp instructions and thread instructions of the launches so far, in that order. Host phases are not in it.
    pub fn instructions(&self) -> (u64, u64) {
        (self.log.warp_instructions, self.log.thread_instructions)
    }

    /// What is dubious about the kernels launched so far, a sentence each with its place.
    pub fn warnings(&self) -> &[String] {
        &self.log.warnings
    }

    /// Text that the kernels have printed so far.
    pub fn printed(&self) -> &str {
        &self.log.printed
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
