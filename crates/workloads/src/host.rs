//! What a workload's host side talks to.

use crate::check::Near;
use crate::{
    Arg, Comparison, Device, DeviceError, DevicePtr, Element, Expected, Outcome, Output, Shape, element,
};

/// A device, and the results found on it so far.
pub(crate) struct Host<'a> {
    device: &'a mut dyn Device,
    version: &'static str,
    outcome: Outcome,
}

impl<'a> Host<'a> {
    /// A host that runs one version of a workload's kernels on a device.
    pub(crate) fn new(device: &'a mut dyn Device, version: &'static str) -> Self {
        Self { device, version, outcome: Outcome::default() }
    }

    /// The version of the kernels that it launches.
    pub(crate) fn version(&self) -> &'static str {
        self.version
    }

    /// What was found.
    pub(crate) fn into_outcome(self) -> Outcome {
        self.outcome
    }

    /// A new buffer that holds `values`.
    pub(crate) fn buffer<T: Element>(&mut self, name: &str, values: &[T]) -> Result<DevicePtr, DeviceError> {
        let ptr = self.device.alloc(name, (values.len() * T::BYTES) as u64)?;
        self.write(ptr, values)?;
        Ok(ptr)
    }

    /// A new buffer of `count` zeros.
    pub(crate) fn zeros<T: Element>(&mut self, name: &str, count: usize) -> Result<DevicePtr, DeviceError> {
        let bytes = (count * T::BYTES) as u64;
        let ptr = self.device.alloc(name, bytes)?;
        self.device.fill(ptr, 0, bytes)?;
        Ok(ptr)
    }

    /// In the version `cache`, a buffer of `count` zeros for what other versions keep in shared memory, as one more argument
    /// of the kernels that need it; in others none.
    pub(crate) fn temporaries<T: Element>(
        &mut self,
        name: &str,
        count: usize,
    ) -> Result<Vec<Arg>, DeviceError> {
        if self.version != "cache" {
            return Ok(vec![]);
        }
        Ok(vec![self.zeros::<T>(name, count)?.into()])
    }

    /// A new buffer of `count` zeros whose contents may depend on the order in which threads run, such as a queue
    /// that threads append to. It is not an output, and two devices may differ in it.
    pub(crate) fn unordered<T: Element>(
        &mut self,
        name: &str,
        count: usize,
    ) -> Result<DevicePtr, DeviceError> {
        let ptr = self.zeros::<T>(name, count)?;
        self.device.unordered(ptr);
        Ok(ptr)
    }

    /// Copies `values` to the device, from `to` on.
    pub(crate) fn write<T: Element>(&mut self, to: DevicePtr, values: &[T]) -> Result<(), DeviceError> {
        element::upload(self.device, to, values)
    }

    /// Copies `values` to the start of a variable of the module, `__constant__` or `__device__`.
    pub(crate) fn variable<T: Element>(
        &mut self,
        name: &str,
        values: &[T],
    ) -> Result<DevicePtr, DeviceError> {
        let ptr = self.device.variable(name)?;
        self.write(ptr, values)?;
        Ok(ptr)
    }

    /// Sets `bytes` bytes to `value`.
    pub(crate) fn fill(&mut self, to: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError> {
        self.device.fill(to, value, bytes)
    }

    /// Copies `count` values from the device: what the host side needs on its way, no output.
    pub(crate) fn read<T: Element>(&mut self, from: DevicePtr, count: usize) -> Result<Vec<T>, DeviceError> {
        let mut bytes = vec![0; count * T::BYTES];
        self.device.download(from, &mut bytes)?;
        Ok(element::from_bytes(&bytes))
    }

    /// Runs a kernel without dynamic shared memory.
    pub(crate) fn launch(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        args: &[Arg],
    ) -> Result<(), DeviceError> {
        self.device.launch(kernel, Shape::new(grid, block), args)
    }

    /// Runs a kernel with `bytes` bytes of dynamic shared memory.
    pub(crate) fn launch_with_shared(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        bytes: u32,
        args: &[Arg],
    ) -> Result<(), DeviceError> {
        self.device.launch(kernel, Shape::new(grid, block).with_shared(bytes), args)
    }

    /// Runs `threads` threads of a kernel on the CPU cores, each a CTA of one thread ([`Device::on_cpu`]).
    pub(crate) fn on_cpu(&mut self, kernel: &str, threads: u32, args: &[Arg]) -> Result<(), DeviceError> {
        self.device.on_cpu(kernel, threads, args)
    }

    /// Downloads an output that must be `expected`, bit for bit.
    pub(crate) fn exact<T: Element>(
        &mut self,
        name: &str,
        ptr: DevicePtr,
        expected: &[T],
    ) -> Result<Vec<T>, DeviceError> {
        let found = self.read::<T>(ptr, expected.len())?;
        self.outcome.comparisons.push(Comparison::exact(name, &found, expected));
        self.keep(name, ptr, &found, Expected::Exact(element::to_bytes(expected)));
        Ok(found)
    }

    /// Downloads an output whose elements must lie in their intervals; gives what was found.
    pub(crate) fn near<T: Element>(
        &mut self,
        name: &str,
        ptr: DevicePtr,
        expected: Vec<Near>,
    ) -> Result<Vec<T>, DeviceError> {
        let found = self.read::<T>(ptr, expected.len())?;
        self.outcome.comparisons.push(Comparison::near(name, &found, &expected));
        self.keep(name, ptr, &found, Expected::Near(expected));
        Ok(found)
    }

    /// Downloads an output that nothing is known of.
    pub(crate) fn output<T: Element>(
        &mut self,
        name: &str,
        ptr: DevicePtr,
        count: usize,
    ) -> Result<(), DeviceError> {
        let found = self.read::<T>(ptr, count)?;
        self.keep(name, ptr, &found, Expected::Anything);
        Ok(())
    }

    fn keep<T: Element>(&mut self, name: &str, ptr: DevicePtr, found: &[T], expected: Expected) {
        let bytes = element::to_bytes(found);
        self.outcome.outputs.push(Output { name: name.into(), ptr, element: T::NAME, bytes, expected });
    }
}

/// The arguments of a launch: `args![n, a, 0.5_f32]`, each a scalar or a [`DevicePtr`].
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::Arg::from($value)),*] };
}
pub(crate) use args;
