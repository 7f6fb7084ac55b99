//! Hashes a program's inputs without running a kernel.

use sha2::{Digest, Sha256};
use strata_workloads::recording::Recording;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, Expected, HostProgram, Shape};

use strata_gpu::machine::identity::hexadecimal;

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

/// Hash, in hexadecimal, of all that a program does with a device whose kernels leave zeros, and of the results that it
/// expects. For programs whose host side does not depend on results, that is all that makes them what they are, besides
/// their kernels.
///
/// # Errors
/// If the program launches nothing.
pub fn of_whole_run(program: &dyn HostProgram) -> Result<String, String> {
    let mut tape = Tape { end: START, launches: 0, calls: Sha256::new() };
    let outcome = program.run(&mut tape).map_err(|error| format!("`{}`: {error}", program.name()))?;
    if tape.launches == 0 {
        return Err(format!("`{}` launches nothing", program.name()));
    }
    for output in &outcome.outputs {
        let (expected, bounds) = match &output.expected {
            Expected::Anything => (&[][..], String::new()),
            Expected::Exact(bytes) => (bytes.as_slice(), String::new()),
            Expected::Near(bounds) => (&[][..], format!("{bounds:?}")),
        };
        tape.call(&format!("{} {:?} {bounds}", output.element, output.ptr), expected);
    }
    Ok(hexadecimal(&tape.calls.finalize()))
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

    fn on_cpu(&mut self, kernel: &str, threads: u32, args: &[Arg]) -> Result<(), DeviceError> {
        self.launch(kernel, Shape::of_phase(threads), args)
    }
}

/// A device that hashes what is asked of it.
struct Tape {
    end: u64,
    launches: u64,
    calls: Sha256,
}

impl Tape {
    fn call(&mut self, what: &str, data: &[u8]) {
        // Lengths keep neighbours apart.
        for bytes in [what.as_bytes(), data] {
            self.calls.update((bytes.len() as u64).to_le_bytes());
            self.calls.update(bytes);
        }
    }
}

impl Device for Tape {
    fn alloc(&mut self, _: &str, bytes: u64) -> Result<DevicePtr, DeviceError> {
        self.call(&format!("alloc {bytes}"), &[]);
        let ptr = DevicePtr(self.end);
        self.end += bytes.next_multiple_of(START) + START;
        Ok(ptr)
    }

    fn upload(&mut self, to: DevicePtr, data: &[u8]) -> Result<(), DeviceError> {
        self.call(&format!("upload {to:?}"), data);
        Ok(())
    }

    fn download(&mut self, from: DevicePtr, data: &mut [u8]) -> Result<(), DeviceError> {
        self.call(&format!("download {from:?} {}", data.len()), &[]);
        data.fill(0);
        Ok(())
    }

    fn fill(&mut self, to: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError> {
        self.call(&format!("fill {to:?} {value} {bytes}"), &[]);
        Ok(())
    }

    fn variable(&mut self, name: &str) -> Result<DevicePtr, DeviceError> {
        self.call(&format!("variable {name}"), &[]);
        self.alloc(name, START)
    }

    fn unordered(&mut self, ptr: DevicePtr) {
        self.call(&format!("unordered {ptr:?}"), &[]);
    }

    fn launch(&mut self, kernel: &str, shape: Shape, args: &[Arg]) -> Result<(), DeviceError> {
        self.launches += 1;
        self.call(&format!("launch {kernel} {shape:?} {args:?}"), &[]);
        Ok(())
    }

    fn on_cpu(&mut self, kernel: &str, threads: u32, args: &[Arg]) -> Result<(), DeviceError> {
        self.launches += 1;
        self.call(&format!("phase {kernel} {threads} {args:?}"), &[]);
        Ok(())
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
