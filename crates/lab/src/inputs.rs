//! Hashes a workload's inputs without running a kernel.

use strata_workloads::recording::Recording;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, HostProgram, Shape};

/// Hash, in hexadecimal, of the memory and arguments that the first launch receives; see
/// [`Recording::inputs_hash`].
///
/// # Errors
/// If the program fails before its first launch, or launches nothing.
pub fn hash(program: &dyn HostProgram) -> Result<String, String> {
    let mut device = UntilLaunch { end: START, launched: false };
    let mut recording = Recording::inputs_only(&mut device);
    let outcome = program.run(&mut recording);
    let hash = recording.inputs_hash();
    match outcome {
        _ if device.launched => Ok(format!("{hash:016x}")),
        Ok(_) => Err(format!("`{}` launches nothing", program.name())),
        Err(error) => Err(format!("`{}`: {error}", program.name())),
    }
}

/// Address of the first buffer, and alignment of all buffers.
const START: u64 = 1 << 20;

/// A device that accepts buffers and fails at the first launch, where the inputs are complete.
struct UntilLaunch {
    end: u64,
    launched: bool,
}

impl Device for UntilLaunch {
    fn alloc(&mut self, _: &str, bytes: u64) -> Result<DevicePtr, DeviceError> {
        let ptr = DevicePtr(self.end);
        self.end += bytes.next_multiple_of(START) + START;
        Ok(ptr)
    }

    fn upload(&mut self, _: DevicePtr, _: &[u8]) -> Result<(), DeviceError> {
        Ok(())
    }

    fn download(&mut self, _: DevicePtr, data: &mut [u8]) -> Result<(), DeviceError> {
        data.fill(0);
        Ok(())
    }

    fn fill(&mut self, _: DevicePtr, _: u8, _: u64) -> Result<(), DeviceError> {
        Ok(())
    }

    fn variable(&mut self, name: &str) -> Result<DevicePtr, DeviceError> {
        self.alloc(name, START)
    }

    fn unordered(&mut self, _: DevicePtr) {}

    fn launch(&mut self, kernel: &str, _: Shape, _: &[Arg]) -> Result<(), DeviceError> {
        self.launched = true;
        Err(DeviceError::BadLaunch {
            kernel: kernel.to_owned(),
            reason: "only the inputs were asked for".into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_workloads::Size;

    #[test]
    fn the_hash_is_the_one_that_was_measured() {
        for name in ["saxpy", "gemm", "bfs", "2dconv"] {
            let workload = strata_workloads::find(name).unwrap();
            let found = hash(workload.program(Size::Test).unwrap().as_ref()).unwrap();
            assert_eq!(found, workload.measured(Size::Test).unwrap().inputs_hash, "{name}");
        }
    }
}
