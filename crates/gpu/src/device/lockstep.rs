//! The modelled GPU and the reference executor in lockstep: after every launch and host phase, all of memory must
//! be equal.

use strata_workloads::{Arg, Device, DeviceError, DevicePtr, Shape};

use super::{Buffer, ReferenceDevice, TimedDevice};
use crate::results::Checked;

/// Runs everything on both devices. The host program sees the results of the timed one.
pub struct Lockstep<'a, 'b> {
    timed: &'a mut TimedDevice<'b>,
    reference: &'a mut ReferenceDevice,
    /// Buffers whose contents may differ between the devices.
    unordered: Vec<DevicePtr>,
    differences: Vec<String>,
    checked: Checked,
}

impl<'a, 'b> Lockstep<'a, 'b> {
    /// Takes two fresh devices with the same module.
    pub fn new(timed: &'a mut TimedDevice<'b>, reference: &'a mut ReferenceDevice) -> Self {
        // The device heap hands blocks to threads in an order that depends on timing.
        let unordered = reference.heap_variables();
        Lockstep { timed, reference, unordered, differences: Vec::new(), checked: Checked::default() }
    }

    /// What was compared, and each difference in memory: one sentence for each launch or host phase and buffer.
    pub fn finish(self) -> (Checked, Vec<String>) {
        (self.checked, self.differences)
    }

    /// Compares all of memory, and says whether it did: before a checkpoint, the timed device has none.
    fn compare(&mut self, when: &str) -> bool {
        if self.timed.is_replaying() {
            return false;
        }
        for buffer in self.reference.buffers() {
            if self.unordered.contains(&DevicePtr(buffer.start)) {
                continue;
            }
            let found = self.timed.bytes(buffer);
            let differs = difference(buffer, &found, self.reference.bytes(buffer));
            self.differences.extend(differs.map(|differs| format!("{when}, {differs}")));
        }
        true
    }
}

/// In what the contents that a buffer has differ from the reference executor's; `None` if they are equal.
pub fn difference(buffer: &Buffer, found: &[u8], expected: &[u8]) -> Option<String> {
    if found == expected {
        return None;
    }
    let first = found.iter().zip(expected).position(|(a, b)| a != b)?;
    let wrong = found.iter().zip(expected).filter(|(a, b)| a != b).count();
    Some(format!(
        "{wrong} of {} bytes of `{}` differ from the reference executor; \
         byte {first} (address {:#x}) is {:#04x}, expected {:#04x}",
        buffer.bytes,
        buffer.name,
        buffer.start + first as u64,
        found[first],
        expected[first],
    ))
}

impl Device for Lockstep<'_, '_> {
    fn alloc(&mut self, name: &str, bytes: u64) -> Result<DevicePtr, DeviceError> {
        let ptr = self.reference.alloc(name, bytes)?;
        let timed = self.timed.alloc(name, bytes)?;
        assert_eq!(ptr, timed, "both devices hand out the same addresses");
        Ok(ptr)
    }

    fn upload(&mut self, to: DevicePtr, data: &[u8]) -> Result<(), DeviceError> {
        self.reference.upload(to, data)?;
        self.timed.upload(to, data)
    }

    fn download(&mut self, from: DevicePtr, data: &mut [u8]) -> Result<(), DeviceError> {
        self.timed.download(from, data)
    }

    fn fill(&mut self, to: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError> {
        self.reference.fill(to, value, bytes)?;
        self.timed.fill(to, value, bytes)
    }

    fn copy(&mut self, to: DevicePtr, from: DevicePtr, bytes: u64) -> Result<(), DeviceError> {
        self.reference.copy(to, from, bytes)?;
        self.timed.copy(to, from, bytes)
    }

    fn variable(&mut self, name: &str) -> Result<DevicePtr, DeviceError> {
        let ptr = self.reference.variable(name)?;
        assert_eq!(ptr, self.timed.variable(name)?, "both devices place variables alike");
        Ok(ptr)
    }

    fn unordered(&mut self, ptr: DevicePtr) {
        self.unordered.push(ptr);
    }

    fn launch(&mut self, kernel: &str, shape: Shape, args: &[Arg]) -> Result<(), DeviceError> {
        self.timed.launch(kernel, shape, args)?;
        self.reference.launch(kernel, shape, args)?;
        let number = self.timed.launches().len() - 1;
        self.checked.launches += u64::from(self.compare(&format!("after launch {number} (`{kernel}`)")));
        Ok(())
    }

    fn on_cpu(&mut self, kernel: &str, threads: u32, args: &[Arg]) -> Result<(), DeviceError> {
        self.timed.on_cpu(kernel, threads, args)?;
        self.reference.on_cpu(kernel, threads, args)?;
        let number = self.timed.phases().len() - 1;
        self.checked.phases += u64::from(self.compare(&format!("after host phase {number} (`{kernel}`)")));
        Ok(())
    }
}
