//! The modelled GPU, and a hash of everything that it is told.
//!
//! Two runs of a client that tell the card the same do the same, cycle by cycle, however the client came to it.

use std::fmt::Display;

use sha2::{Digest, Sha256};
use strata_gpu::Progress;
use strata_gpu::device::{Backend, Buffer, Call, Modelled, ModuleId};
use strata_gpu::machine::identity::hexadecimal;
use strata_gpu::results::LaunchResult;
use strata_workloads::DeviceError;

use crate::check::Check;

/// The modelled GPU as a client's device.
pub struct Timed {
    /// The GPU.
    pub gpu: Modelled,
    /// PTX texts and how they are compiled.
    texts: Sha256,
    /// Buffers, bytes and launches.
    calls: Sha256,
    /// The reference executor, where everything is checked.
    check: Option<Check>,
    /// A launch that has ended on the GPU, but not on the reference executor.
    unchecked: Option<LaunchResult>,
}

/// Adds a call and its data to a hash. Lengths keep neighbours apart.
fn add(hash: &mut Sha256, what: impl Display, data: &[u8]) {
    for bytes in [what.to_string().as_bytes(), data] {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
}

impl Timed {
    /// A GPU that has been told nothing yet.
    pub fn new(gpu: Modelled, check: Option<Check>) -> Timed {
        Timed { gpu, texts: Sha256::new(), calls: Sha256::new(), check, unchecked: None }
    }

    /// The reference executor in lockstep, where everything is checked.
    pub fn check(&self) -> Option<&Check> {
        self.check.as_ref()
    }

    /// Notes that a variable's contents depend on timing.
    pub fn unordered(&mut self, start: u64) {
        self.check.iter_mut().for_each(|check| check.unordered(start));
    }

    /// What the launch that failed had done until then.
    pub fn stopped(&self) -> Option<LaunchResult> {
        self.unchecked.as_ref().or(self.gpu.stopped()).cloned()
    }

    /// Notes that a text is part of the next module, compiled for at most so many registers.
    pub fn text(&mut self, text: &str, max_registers: u32) {
        add(&mut self.texts, format_args!("text {max_registers}"), text.as_bytes());
    }

    /// Hash of the PTX so far.
    pub fn ptx(&self) -> String {
        hexadecimal(&self.texts.clone().finalize())
    }

    /// Hash of everything else so far: allocations, copies to the device, launches and their arguments.
    pub fn inputs(&self) -> String {
        hexadecimal(&self.calls.clone().finalize())
    }
}

impl Backend for Timed {
    type Done = LaunchResult;

    fn capacity_bytes(&self) -> u64 {
        self.gpu.capacity_bytes()
    }

    fn floor(&self) -> u64 {
        self.gpu.floor()
    }

    fn open(&mut self, buffer: &Buffer, fresh: bool) {
        add(&mut self.calls, format_args!("open {} {}", buffer.start, buffer.bytes), &[]);
        self.gpu.open(buffer, fresh);
        self.check.iter_mut().for_each(|check| check.open(buffer, fresh));
    }

    fn close(&mut self, buffer: &Buffer) {
        add(&mut self.calls, format_args!("close {}", buffer.start), &[]);
        self.gpu.close(buffer);
        self.check.iter_mut().for_each(|check| check.close(buffer));
    }

    fn write(&mut self, at: u64, data: &[u8]) {
        add(&mut self.calls, format_args!("write {at}"), data);
        self.gpu.write(at, data);
        self.check.iter_mut().for_each(|check| check.write(at, data));
    }

    /// Leaves no trace on the card, so it is not part of the hash.
    fn read(&mut self, at: u64, data: &mut [u8]) {
        self.gpu.read(at, data);
    }

    fn synchronize(&mut self) {
        add(&mut self.calls, format_args!("synchronize"), &[]);
        self.gpu.synchronize();
    }

    fn run(
        &mut self,
        call: &Call<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<LaunchResult, DeviceError> {
        let Call { kernel, module, shape, params, variables, headers, .. } = call;
        let kernel = (&kernel.name, kernel.registers, kernel.local_bytes, kernel.stack_bytes);
        add(
            &mut self.calls,
            format!("launch {module:?} {kernel:?} {shape:?} {variables:?} {headers:?}"),
            params,
        );
        let done = self.gpu.run(call, progress)?;
        if let Some(check) = &mut self.check
            && let Err(error) = check.launched(call, &mut self.gpu)
        {
            self.unchecked = Some(done);
            return Err(error);
        }
        Ok(done)
    }

    fn forget(&mut self, module: ModuleId) {
        add(&mut self.calls, format_args!("forget {module:?}"), &[]);
        self.gpu.forget(module);
    }
}
