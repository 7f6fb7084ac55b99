//! The reference executor as a device: right values, no time.

use strata_ptx::reference::{Executor, GlobalMemory, LaunchConfig, Observer, Options};
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, HostProgram, Module};

use super::arguments::{check_shape, parameter_block};
use super::heap::{Buffer, Heap};
use crate::machine::Machine;
use crate::profile::{Profile, Profiler};
use crate::program::Program;

/// Device memory of a program that names no machine: more than any of ours asks for.
const AMPLE_BYTES: u64 = 64 << 30;

/// A device that executes kernels functionally.
pub struct ReferenceDevice {
    program: Program,
    heap: Heap,
    memory: GlobalMemory,
    variables: Vec<u64>,
    options: Options,
    warp_instructions: u64,
    thread_instructions: u64,
    printed: String,
    profiler: Option<Profiler>,
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
        let program = Program::parse(module, compile)?;
        let mut heap = Heap::new(capacity_bytes);
        let mut memory = GlobalMemory::new();
        let mut variables = Vec::new();
        for variable in program.place_variables(&mut heap).map_err(|error| error.to_string())? {
            let mut bytes = vec![0; variable.bytes as usize];
            bytes[..variable.init.len()].copy_from_slice(&variable.init);
            assert!(memory.insert(variable.address, bytes), "the heap hands out disjoint buffers");
            variables.push(variable.address);
        }
        Ok(ReferenceDevice {
            program,
            heap,
            memory,
            variables,
            options,
            warp_instructions: 0,
            thread_instructions: 0,
            printed: String::new(),
            profiler: None,
        })
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
        self.profiler = Some(Profiler::default());
    }

    /// What was seen, if launches were watched.
    pub(crate) fn into_profile(self) -> Option<Profile> {
        self.profiler.map(Profiler::finish)
    }

    /// All buffers and variables, by address.
    pub fn buffers(&self) -> &[Buffer] {
        self.heap.buffers()
    }

    /// The bytes of a buffer.
    pub fn bytes(&self, buffer: &Buffer) -> &[u8] {
        self.memory.bytes(buffer.start, buffer.bytes as usize).expect("a buffer of the heap is in memory")
    }

    /// Warp and thread instructions executed so far.
    pub fn instructions(&self) -> (u64, u64) {
        (self.warp_instructions, self.thread_instructions)
    }

    /// What the kernels printed.
    pub fn printed(&self) -> &str {
        &self.printed
    }

    fn range(&mut self, ptr: DevicePtr, bytes: u64) -> Result<&mut [u8], DeviceError> {
        self.heap.find(ptr, bytes)?;
        self.memory.bytes_mut(ptr.0, bytes as usize).ok_or(DeviceError::OutOfBounds { ptr, bytes })
    }
}

impl Device for ReferenceDevice {
    fn alloc(&mut self, name: &str, bytes: u64) -> Result<DevicePtr, DeviceError> {
        let ptr = self.heap.alloc(name, bytes)?;
        assert!(self.memory.insert(ptr.0, vec![0; bytes as usize]), "the heap hands out disjoint buffers");
        Ok(ptr)
    }

    fn upload(&mut self, to: DevicePtr, data: &[u8]) -> Result<(), DeviceError> {
        if !data.is_empty() {
            self.range(to, data.len() as u64)?.copy_from_slice(data);
        }
        Ok(())
    }

    fn download(&mut self, from: DevicePtr, data: &mut [u8]) -> Result<(), DeviceError> {
        if !data.is_empty() {
            data.copy_from_slice(self.range(from, data.len() as u64)?);
        }
        Ok(())
    }

    fn fill(&mut self, to: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError> {
        if bytes > 0 {
            self.range(to, bytes)?.fill(value);
        }
        Ok(())
    }

    fn variable(&mut self, name: &str) -> Result<DevicePtr, DeviceError> {
        Ok(DevicePtr(self.variables[self.program.variable(name)?]))
    }

    fn launch(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_shared: u32,
        args: &[Arg],
    ) -> Result<(), DeviceError> {
        let bad = |reason| DeviceError::BadLaunch { kernel: kernel.to_owned(), reason };
        let compiled = self.program.kernel(kernel)?;
        check_shape(&compiled, grid, block).map_err(bad)?;
        let params = parameter_block(&compiled, args).map_err(bad)?;
        let config = LaunchConfig { grid, block, dynamic_shared, params };
        let summary = Executor::new(&compiled, config, &self.variables, &mut self.memory)
            .with_options(self.options)
            .watched_by(self.profiler.as_mut().map(|profiler| profiler as &mut dyn Observer))
            .run()
            .map_err(|fault| DeviceError::Failed { kernel: kernel.to_owned(), reason: fault.to_string() })?;
        self.warp_instructions += summary.counts.warp_instructions;
        self.thread_instructions += summary.counts.thread_instructions;
        if let Some(profiler) = &mut self.profiler {
            let threads = block.iter().product();
            profiler.launched(&compiled, threads, dynamic_shared, &summary.counts);
        }
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
