//! The host side of a launch file.

use std::collections::BTreeSet;

use super::number::Type;
use super::{Argument, Buffer, Check, Contents, Launch, LaunchFile, Place, Processor, Tolerance, Write};
use crate::check::Near;
use crate::host::Host;
use crate::{
    Arg, Device, DeviceError, DevicePtr, Element, HostProgram, Module, Outcome, Output, Plan, Workload,
    element,
};

/// Bytes generated at a time; a multiple of every type's size.
const PIECE_BYTES: usize = 1 << 20;

impl HostProgram for LaunchFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn module(&self) -> Module<'_> {
        Module { name: &self.module_name, text: &self.ptx }
    }

    fn plan(&self) -> Option<Plan> {
        let on_gpu = || self.launches.iter().filter(|launch| matches!(launch.place, Processor::Gpu(_)));
        let kernels: BTreeSet<&String> = on_gpu().map(|launch| &launch.kernel).collect();
        Some(Plan {
            launches: on_gpu().map(|launch| launch.repeat).sum(),
            kernels: kernels.into_iter().cloned().collect(),
        })
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        self.run_and_leave(device, &mut Vec::new())
    }

    fn run_and_leave(&self, device: &mut dyn Device, left: &mut Vec<Output>) -> Result<Outcome, DeviceError> {
        let mut ptrs = Vec::with_capacity(self.buffers.len());
        for buffer in &self.buffers {
            ptrs.push(buffer.place(device)?);
        }
        let launched = self.launches.iter().try_for_each(|launch| launch.run(&ptrs, device));
        let mut host = Host::new(device, Workload::DEFAULT_VERSION);
        let mut checks = self.checks.iter();
        let checked = checks
            .try_for_each(|check| check.compare(ptrs[check.buffer].offset(check.byte_offset), &mut host));
        let outcome = host.into_outcome();
        match launched {
            Ok(()) => checked.map(|()| outcome),
            Err(error) => {
                *left = outcome.outputs;
                Err(error)
            }
        }
    }
}

impl Buffer {
    /// Allocates the buffer, or finds the variable, and gives it its contents.
    fn place(&self, device: &mut dyn Device) -> Result<DevicePtr, DeviceError> {
        let bytes = self.bytes();
        let ptr = match self.place {
            Place::Allocated => device.alloc(&self.name, bytes as u64)?,
            Place::Variable => device.variable(&self.name)?,
        };
        if self.unordered {
            device.unordered(ptr);
        }
        self.fill(ptr, device).map_err(|error| match (self.place, error) {
            (Place::Variable, DeviceError::OutOfBounds { .. }) => {
                DeviceError::ShortVariable { variable: self.name.clone(), bytes: bytes as u64 }
            }
            (_, error) => error,
        })?;
        Ok(ptr)
    }

    /// Writes the contents.
    fn fill(&self, ptr: DevicePtr, device: &mut dyn Device) -> Result<(), DeviceError> {
        let bytes = self.bytes();
        if let Contents::Zeros = self.contents {
            return device.fill(ptr, 0, bytes as u64);
        }
        let mut pieces = self.contents.pieces(self.ty);
        for start in (0..bytes).step_by(PIECE_BYTES) {
            let mut piece = vec![0; PIECE_BYTES.min(bytes - start)];
            pieces.fill(&mut piece);
            device.upload(ptr.offset(start as u64), &piece)?;
        }
        Ok(())
    }
}

impl Launch {
    fn run(&self, ptrs: &[DevicePtr], device: &mut dyn Device) -> Result<(), DeviceError> {
        let arg = |argument: &Argument| match *argument {
            Argument::Buffer { index, byte_offset } => Arg::Ptr(ptrs[index].offset(byte_offset)),
            Argument::Scalar(arg) => arg,
        };
        let args: Vec<Arg> = self.arguments.iter().map(arg).collect();
        for _ in 0..self.repeat {
            for write in &self.before {
                match write {
                    Write::Bytes { buffer, byte_offset, bytes } => {
                        device.upload(ptrs[*buffer].offset(*byte_offset), bytes)?;
                    }
                    Write::Fill { buffer, byte_offset, bytes, value } => {
                        device.fill(ptrs[*buffer].offset(*byte_offset), *value, *bytes)?;
                    }
                }
            }
            match self.place {
                Processor::Gpu(shape) => device.launch(&self.kernel, shape, &args)?,
                Processor::Cpu(threads) => device.on_cpu(&self.kernel, threads, &args)?,
            }
        }
        Ok(())
    }
}

impl Check {
    fn compare(&self, ptr: DevicePtr, host: &mut Host<'_>) -> Result<(), DeviceError> {
        macro_rules! by_type {
            ($($ty:ident $rust:ty),*) => {
                match self.ty { $(Type::$ty => self.compare_as::<$rust>(ptr, host),)* }
            };
        }
        by_type!(U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F32 f32, F64 f64)
    }

    fn compare_as<T: Element>(&self, ptr: DevicePtr, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let Some(contents) = &self.expected else {
            return host.output::<T>(&self.name, ptr, self.count);
        };
        let mut expected = vec![0; self.count * T::BYTES];
        contents.pieces(self.ty).fill(&mut expected);
        let expected: Vec<T> = element::from_bytes(&expected);
        let values = expected.iter().map(|value| value.to_f64());
        let near = |value, bound| Near { value, bound };
        match &self.tolerance {
            None => host.exact(&self.name, ptr, &expected)?,
            Some(Tolerance::Everywhere { absolute, relative }) => {
                // Nothing but itself is near an infinity, and its product with a tolerance of zero is NaN.
                let bound =
                    |value: f64| if value.is_finite() { absolute + relative * value.abs() } else { 0.0 };
                let each = values.map(|value| near(value, bound(value)));
                host.near::<T>(&self.name, ptr, each.collect())?
            }
            Some(Tolerance::Each(bounds)) => {
                let each = values.zip(bounds).map(|(value, bound)| near(value, *bound));
                host.near::<T>(&self.name, ptr, each.collect())?
            }
        };
        Ok(())
    }
}
