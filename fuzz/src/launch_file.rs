//! Launch files: read, and run on a device that only counts.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use strata_workloads::launch_file;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, HostProgram, Shape};

/// Bytes of buffers beyond which the device is full.
const MOST_BYTES: u64 = 1 << 16;
/// Launches after which the device fails.
const MOST_LAUNCHES: u32 = 100;

/// Does with the file what `strata run` would, short of executing its kernels.
pub fn try_input(input: &[u8]) {
    // Names with a folder in them, spelt out or escaped, could leave the one where the input lies.
    if input.contains(&b'/') || input.contains(&b'\\') || input.windows(2).any(|pair| pair == b"..") {
        return;
    }
    let folder = folder();
    let path = folder.join("launch.toml");
    std::fs::write(&path, input).expect("the folder for inputs can be written");
    match launch_file::read(&path) {
        Ok(program) => {
            let _ = (
                program.name().len(),
                program.run(&mut Counting::default()).map(|outcome| outcome.to_string()),
            );
        }
        Err(error) => drop(error.to_string()),
    }
}

/// A folder of this process with the two files that the seeds name.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("strata-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
        let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n\
                   .entry k(.param .u64 a, .param .b32 n) { ret; }\n\
                   .entry l(.param .u64 a, .param .f64 x) { ret; }\n\
                   .entry add(.param .u32 n, .param .u64 a, .param .u64 b, .param .u64 c) { ret; }\n";
        std::fs::write(folder.join("k.ptx"), ptx).expect("the folder for inputs can be written");
        let data: Vec<u8> = (0..64).collect();
        std::fs::write(folder.join("data.bin"), data).expect("the folder for inputs can be written");
        folder
    })
}

/// A device whose memory is zero.
#[derive(Default)]
struct Counting {
    bytes: u64,
    launches: u32,
}

impl Device for Counting {
    fn alloc(&mut self, name: &str, bytes: u64) -> Result<DevicePtr, DeviceError> {
        if self.bytes + bytes > MOST_BYTES {
            return Err(DeviceError::OutOfMemory { name: name.into(), bytes });
        }
        self.bytes += bytes;
        Ok(DevicePtr(self.bytes))
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

    fn variable(&mut self, _: &str) -> Result<DevicePtr, DeviceError> {
        Ok(DevicePtr(0))
    }

    fn launch(&mut self, kernel: &str, _: Shape, _: &[Arg]) -> Result<(), DeviceError> {
        self.launches += 1;
        if self.launches > MOST_LAUNCHES {
            return Err(DeviceError::UnknownKernel { kernel: kernel.into() });
        }
        Ok(())
    }

    fn on_cpu(&mut self, kernel: &str, threads: u32, args: &[Arg]) -> Result<(), DeviceError> {
        self.launch(kernel, Shape::of_phase(threads), args)
    }
}
