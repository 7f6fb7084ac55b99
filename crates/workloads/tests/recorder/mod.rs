//! A device that keeps memory and a list of launches and runs nothing.
#![allow(dead_code, reason = "each test file uses a part")]

use strata_workloads::{Arg, Device, DeviceError, DevicePtr, Shape};

/// A launch as it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    pub args: Vec<Arg>,
}

/// A host phase as it was asked for, and how many launches came before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    pub kernel: String,
    pub threads: u32,
    pub args: Vec<Arg>,
    pub after_launches: usize,
}

#[derive(Debug)]
struct Buffer {
    name: String,
    ptr: DevicePtr,
    bytes: Vec<u8>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Recorder {
    buffers: Vec<Buffer>,
    pub launches: Vec<Launch>,
    pub phases: Vec<Phase>,
}

impl Recorder {
    pub fn buffer(&self, name: &str) -> &[u8] {
        &self.buffers.iter().find(|buffer| buffer.name == name).expect("the buffer exists").bytes
    }

    fn range(&mut self, ptr: DevicePtr, bytes: usize) -> Result<(&mut Buffer, usize), DeviceError> {
        let inside = |buffer: &&mut Buffer| {
            ptr >= buffer.ptr && ptr.0 + bytes as u64 <= buffer.ptr.0 + buffer.bytes.len() as u64
        };
        let buffer = self
            .buffers
            .iter_mut()
            .find(inside)
            .ok_or(DeviceError::OutOfBounds { ptr, bytes: bytes as u64 })?;
        let start = (ptr.0 - buffer.ptr.0) as usize;
        Ok((buffer, start))
    }
}

impl Device for Recorder {
    fn alloc(&mut self, name: &str, bytes: u64) -> Result<DevicePtr, DeviceError> {
        let ptr = match self.buffers.last() {
            Some(last) => DevicePtr((last.ptr.0 + last.bytes.len() as u64 + 1).next_multiple_of(256)),
            None => DevicePtr(0x1_0000),
        };
        let bytes = vec![0; usize::try_from(bytes).expect("the buffer fits the host")];
        self.buffers.push(Buffer { name: name.into(), ptr, bytes });
        Ok(ptr)
    }

    fn upload(&mut self, to: DevicePtr, data: &[u8]) -> Result<(), DeviceError> {
        let (buffer, start) = self.range(to, data.len())?;
        buffer.bytes[start..start + data.len()].copy_from_slice(data);
        Ok(())
    }

    fn download(&mut self, from: DevicePtr, data: &mut [u8]) -> Result<(), DeviceError> {
        let (buffer, start) = self.range(from, data.len())?;
        data.copy_from_slice(&buffer.bytes[start..start + data.len()]);
        Ok(())
    }

    fn fill(&mut self, to: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError> {
        let bytes = usize::try_from(bytes).expect("the range fits the host");
        let (buffer, start) = self.range(to, bytes)?;
        buffer.bytes[start..start + bytes].fill(value);
        Ok(())
    }

    fn variable(&mut self, name: &str) -> Result<DevicePtr, DeviceError> {
        // Whatever the module declares: the recorder has not read it.
        match self.buffers.iter().find(|buffer| buffer.name == name) {
            Some(buffer) => Ok(buffer.ptr),
            None => self.alloc(name, 64 << 10),
        }
    }

    fn launch(&mut self, kernel: &str, shape: Shape, args: &[Arg]) -> Result<(), DeviceError> {
        let Shape { grid, block, dynamic_shared, cluster: _ } = shape;
        let args = args.to_vec();
        self.launches.push(Launch { kernel: kernel.into(), grid, block, dynamic_shared, args });
        Ok(())
    }

    fn on_cpu(&mut self, kernel: &str, threads: u32, args: &[Arg]) -> Result<(), DeviceError> {
        let (args, after_launches) = (args.to_vec(), self.launches.len());
        self.phases.push(Phase { kernel: kernel.into(), threads, args, after_launches });
        Ok(())
    }
}
