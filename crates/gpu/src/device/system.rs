//! The top of device memory, hidden from programs: parameters, code and local memory.

use super::holes::Holes;

/// Bytes reserved for the parameter block (PTX ISA: at most 32,764 bytes of parameters).
const PARAMETER_BYTES: u64 = 32 << 10;
/// Alignment of everything here: a row of local memory, a line of code.
const ALIGN: u64 = 256;

/// Allocates addresses downward from the top of device memory.
#[derive(Clone, Debug)]
pub struct SystemRegion {
    parameters: u64,
    floor: u64,
    holes: Holes,
    local: Option<(u64, u64)>,
}

impl SystemRegion {
    /// An empty region at the top of `bytes` bytes of device memory.
    pub fn new(bytes: u64) -> Self {
        let parameters = bytes - PARAMETER_BYTES;
        SystemRegion { parameters, floor: parameters, holes: Holes::default(), local: None }
    }

    /// Address of the parameter block.
    pub fn parameters(&self) -> u64 {
        self.parameters
    }

    /// The lowest address in use.
    pub fn floor(&self) -> u64 {
        self.floor
    }

    /// Allocates `bytes` bytes above `heap_end`; `None` if they do not fit.
    pub fn alloc(&mut self, bytes: u64, heap_end: u64) -> Option<u64> {
        if let Some(at) = self.holes.take(bytes.checked_next_multiple_of(ALIGN)?, ALIGN) {
            return Some(at);
        }
        let at = self.floor.checked_sub(bytes)? / ALIGN * ALIGN;
        if at < heap_end {
            return None;
        }
        self.floor = at;
        Some(at)
    }

    /// Frees the `bytes` bytes at `at`.
    pub fn free(&mut self, at: u64, bytes: u64) {
        self.holes.give(at, at + bytes.next_multiple_of(ALIGN));
    }

    /// Allocates local memory, reusing an earlier launch's region if that is large enough.
    pub fn local(&mut self, bytes: u64, heap_end: u64) -> Option<u64> {
        if let Some((at, room)) = self.local
            && room >= bytes
        {
            return Some(at);
        }
        let at = self.alloc(bytes, heap_end)?;
        self.local = Some((at, bytes));
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_do_not_overlap_and_stay_above_the_heap() {
        let mut system = SystemRegion::new(1 << 20);
        let code = system.alloc(1000, 0).unwrap();
        let local = system.local(5000, 0).unwrap();
        assert!(code + 1000 <= system.parameters() && local + 5000 <= code);
        assert_eq!(system.local(4000, 0), Some(local), "a smaller launch uses the same region");
        assert!(system.local(6000, 0).unwrap() + 6000 <= local);
        assert_eq!(system.alloc(1000, system.floor()), None);
        assert_eq!(system.alloc(u64::MAX, 0), None);
    }

    #[test]
    fn what_is_given_back_is_used_again() {
        let mut system = SystemRegion::new(1 << 20);
        let code = system.alloc(1000, 0).unwrap();
        let other = system.alloc(8, 0).unwrap();
        system.free(code, 1000);
        assert_eq!(system.alloc(1024, 0), Some(code));
        assert!(system.alloc(1024, 0).unwrap() < other);
    }
}
