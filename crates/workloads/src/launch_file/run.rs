//! The host side of a launch file.

use super::number::Type;
use super::{Argument, Buffer, Check, Contents, LaunchFile, Tolerance};
use crate::check::Near;
use crate::host::Host;
use crate::{Arg, Device, DeviceError, DevicePtr, Element, HostProgram, Module, Outcome, element};

/// Bytes generated at a time; a multiple of every type's size.
const PIECE_BYTES: usize = 1 << 20;

impl HostProgram for LaunchFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn module(&self) -> Module<'_> {
        Module { name: &self.module_name, text: &self.ptx }
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let mut ptrs = Vec::with_capacity(self.buffers.len());
        for buffer in &self.buffers {
            ptrs.push(buffer.place(device)?);
        }
        for launch in &self.launches {
            let arg = |argument: &Argument| match *argument {
                Argument::Buffer { index, byte_offset } => Arg::Ptr(ptrs[index].offset(byte_offset)),
                Argument::Scalar(arg) => arg,
            };
            let args: Vec<Arg> = launch.arguments.iter().map(arg).collect();
            for _ in 0..launch.repeat {
                device.launch(&launch.kernel, launch.grid, launch.block, launch.dynamic_shared, &args)?;
            }
        }
        let mut host = Host::new(device);
        for check in &self.checks {
            self.check(check, ptrs[check.buffer], &mut host)?;
        }
        Ok(host.into_outcome())
    }
}

impl Buffer {
    /// Allocates the buffer and gives it its contents.
    fn place(&self, device: &mut dyn Device) -> Result<DevicePtr, DeviceError> {
        let bytes = self.bytes();
        let ptr = device.alloc(&self.name, bytes as u64)?;
        if let Contents::Zeros = self.contents {
            device.fill(ptr, 0, bytes as u64)?;
            return Ok(ptr);
        }
        let mut pieces = self.contents.pieces(self.ty);
        for start in (0..bytes).step_by(PIECE_BYTES) {
            let mut piece = vec![0; PIECE_BYTES.min(bytes - start)];
            pieces.fill(&mut piece);
            device.upload(ptr.offset(start as u64), &piece)?;
        }
        Ok(ptr)
    }
}

impl LaunchFile {
    fn check(&self, check: &Check, ptr: DevicePtr, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let buffer = &self.buffers[check.buffer];
        macro_rules! by_type {
            ($($ty:ident $rust:ty),*) => {
                match buffer.ty { $(Type::$ty => compare::<$rust>(buffer, check, ptr, host),)* }
            };
        }
        by_type!(U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F32 f32, F64 f64)
    }
}

fn compare<T: Element>(
    buffer: &Buffer,
    check: &Check,
    ptr: DevicePtr,
    host: &mut Host<'_>,
) -> Result<(), DeviceError> {
    let Some(contents) = &check.expected else {
        return host.output::<T>(&buffer.name, ptr, buffer.count);
    };
    let mut expected = vec![0; buffer.bytes()];
    contents.pieces(buffer.ty).fill(&mut expected);
    let expected: Vec<T> = element::from_bytes(&expected);
    match check.tolerance {
        None => host.exact(&buffer.name, ptr, &expected)?,
        Some(Tolerance { absolute, relative }) => {
            let near = |value: &T| {
                let value = value.to_f64();
                Near { value, bound: absolute + relative * value.abs() }
            };
            host.near::<T>(&buffer.name, ptr, expected.iter().map(near).collect())?
        }
    };
    Ok(())
}
