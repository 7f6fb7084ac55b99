//! Where buffers lie in device memory: the same places on every device.

use strata_workloads::{DeviceError, DevicePtr};

/// First address handed out: null and small addresses are never valid.
const BASE: u64 = 0x10_0000;
/// Alignment of a buffer. CUDA C programming guide, "Device Memory Accesses": at least 256 bytes.
const ALIGN: u64 = 256;
/// Unmapped bytes after each buffer, so that running off its end is seen.
const GAP: u64 = 256;

/// A buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name, for reports.
    pub name: String,
    /// First address.
    pub start: u64,
    /// Size in bytes.
    pub bytes: u64,
}

impl Buffer {
    /// One past the last address.
    pub fn end(&self) -> u64 {
        self.start + self.bytes
    }
}

/// Hands out addresses upward and never takes one back: a simulated program is short.
#[derive(Clone, Debug)]
pub struct Heap {
    buffers: Vec<Buffer>,
    next: u64,
    limit: u64,
}

impl Heap {
    /// A heap for `capacity_bytes` of device memory.
    pub fn new(capacity_bytes: u64) -> Self {
        Heap { buffers: Vec::new(), next: BASE, limit: BASE.saturating_add(capacity_bytes) }
    }

    /// A new buffer.
    pub fn alloc(&mut self, name: &str, bytes: u64) -> Result<DevicePtr, DeviceError> {
        let start = self.next;
        let end = start.checked_add(bytes).filter(|end| *end <= self.limit);
        let next =
            end.and_then(|end| end.checked_next_multiple_of(ALIGN)).and_then(|end| end.checked_add(GAP));
        let Some(next) = next else {
            return Err(DeviceError::OutOfMemory { name: name.to_owned(), bytes });
        };
        self.next = next;
        self.buffers.push(Buffer { name: name.to_owned(), start, bytes });
        Ok(DevicePtr(start))
    }

    /// The buffer that holds a range, and the range's offset in it.
    pub fn find(&self, ptr: DevicePtr, bytes: u64) -> Result<(usize, u64), DeviceError> {
        let after = self.buffers.partition_point(|buffer| buffer.start <= ptr.0);
        let found = after.checked_sub(1).filter(|index| {
            let buffer = &self.buffers[*index];
            ptr.0.checked_add(bytes).is_some_and(|end| end <= buffer.end())
        });
        match found {
            Some(index) => Ok((index, ptr.0 - self.buffers[index].start)),
            None => Err(DeviceError::OutOfBounds { ptr, bytes }),
        }
    }

    /// All buffers, by address.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// `[start, end)` of all buffers, by address.
    pub fn ranges(&self) -> Vec<(u64, u64)> {
        self.buffers.iter().map(|buffer| (buffer.start, buffer.end())).collect()
    }

    /// First address that no buffer reaches.
    pub fn end(&self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_lies_in_one_buffer_or_is_refused() {
        let mut heap = Heap::new(1 << 20);
        let a = heap.alloc("a", 100).unwrap();
        let b = heap.alloc("b", 8).unwrap();
        assert_eq!((a.0 % ALIGN, b.0 % ALIGN), (0, 0));
        assert_eq!(heap.find(DevicePtr(a.0 + 90), 10), Ok((0, 90)));
        assert_eq!(heap.find(b, 8), Ok((1, 0)));
        assert!(heap.find(DevicePtr(a.0 + 90), 11).is_err());
        assert!(heap.find(DevicePtr(0), 1).is_err());
        assert!(heap.find(DevicePtr(u64::MAX), 2).is_err());
    }

    #[test]
    fn a_full_memory_refuses() {
        let mut heap = Heap::new(1 << 20);
        assert!(heap.alloc("big", (1 << 20) + 1).is_err());
        assert!(heap.alloc("huge", u64::MAX).is_err());
        assert!(heap.alloc("fits", 1 << 20).is_ok());
    }
}
