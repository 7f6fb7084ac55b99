//! Device memory as the reference executor sees it: allocations in a 64-bit address space.

use crate::ir::window;

/// One allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Device address of its first byte.
    pub base: u64,
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl Allocation {
    /// First address behind it.
    pub fn end(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }
}

/// Global memory: disjoint allocations. Addresses between them, and address 0, hold nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobalMemory {
    /// In the order of their addresses.
    allocations: Vec<Allocation>,
}

/// Where the first allocation goes.
const FIRST_ADDRESS: u64 = 0x1000_0000;
/// Alignment of every allocation, and the least gap between two: an access one past the end is caught.
const GRANULE: u64 = 256;

impl GlobalMemory {
    /// Nothing allocated.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allocates zeroed bytes behind everything else, aligned to 256 bytes; returns the address.
    pub fn allocate(&mut self, bytes: usize) -> u64 {
        self.allocate_with(vec![0; bytes])
    }

    /// Allocates and fills; returns the address.
    ///
    /// # Panics
    /// When the next address lies in the windows of the generic address space.
    pub fn allocate_with(&mut self, bytes: Vec<u8>) -> u64 {
        let end = self.allocations.last().map_or(FIRST_ADDRESS - GRANULE, Allocation::end);
        let base = (end + GRANULE).next_multiple_of(GRANULE);
        assert!(
            self.insert(base, bytes),
            "device memory reaches into the windows of shared and local memory"
        );
        base
    }

    /// Places an allocation at a given address; false (and nothing done) when it overlaps another or one of
    /// the windows of the generic address space.
    pub fn insert(&mut self, base: u64, bytes: Vec<u8>) -> bool {
        let Some(end) = base.checked_add(bytes.len() as u64) else { return false };
        let place = self.allocations.partition_point(|allocation| allocation.base < base);
        let after_previous = place == 0 || self.allocations[place - 1].end() <= base;
        let before_next = self.allocations.get(place).is_none_or(|next| end <= next.base);
        let outside_windows = end <= window::SHARED || base >= window::PARAM + window::BYTES;
        let fits = after_previous && before_next && outside_windows;
        if fits {
            self.allocations.insert(place, Allocation { base, bytes });
        }
        fits
    }

    /// Takes the allocation that begins at `base` away.
    pub fn remove(&mut self, base: u64) -> Option<Allocation> {
        let place = self.allocations.binary_search_by_key(&base, |allocation| allocation.base).ok()?;
        Some(self.allocations.remove(place))
    }

    /// All allocations in the order of their addresses.
    pub fn allocations(&self) -> &[Allocation] {
        &self.allocations
    }

    /// The allocation that holds an address.
    #[inline]
    pub fn containing(&mut self, address: u64) -> Option<&mut Allocation> {
        let place =
            self.allocations.partition_point(|allocation| allocation.base <= address).checked_sub(1)?;
        let allocation = &mut self.allocations[place];
        (address < allocation.end()).then_some(allocation)
    }

    /// `len` bytes at an address; none unless one allocation holds them all.
    pub fn bytes(&self, address: u64, len: usize) -> Option<&[u8]> {
        let place =
            self.allocations.partition_point(|allocation| allocation.base <= address).checked_sub(1)?;
        let allocation = &self.allocations[place];
        let start = usize::try_from(address - allocation.base).ok()?;
        allocation.bytes.get(start..start.checked_add(len)?)
    }

    /// As [`GlobalMemory::bytes`], to be written.
    pub fn bytes_mut(&mut self, address: u64, len: usize) -> Option<&mut [u8]> {
        let allocation = self.containing(address)?;
        let start = usize::try_from(address - allocation.base).ok()?;
        allocation.bytes.get_mut(start..start.checked_add(len)?)
    }

    /// The text at an address up to its NUL or the end of the allocation; a stand-in when nothing is there.
    pub fn text(&self, address: u64) -> String {
        let place = self.allocations.partition_point(|allocation| allocation.base <= address);
        let bytes = place
            .checked_sub(1)
            .and_then(|place| {
                self.allocations[place].bytes.get((address - self.allocations[place].base) as usize..)
            })
            .filter(|bytes| !bytes.is_empty());
        match bytes {
            None => format!("(no text at {address:#x})"),
            Some(bytes) => {
                let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
                String::from_utf8_lossy(&bytes[..end]).into_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_do_not_touch() {
        let mut memory = GlobalMemory::new();
        let (a, b) = (memory.allocate(256), memory.allocate(1));
        assert!(a + 256 < b, "a gap catches an access behind the end");
        assert!(memory.bytes(a, 256).is_some());
        assert!(memory.bytes(a, 257).is_none());
        assert!(memory.bytes(a + 256, 1).is_none());
        assert!(memory.bytes(0, 1).is_none());
    }

    #[test]
    fn insertion_refuses_overlaps_and_windows() {
        let mut memory = GlobalMemory::new();
        assert!(memory.insert(0x2000, vec![0; 0x100]));
        for (base, len, fits) in [
            (0x20ff, 1, false),
            (0x1fff, 2, false),
            (0x2100, 16, true),
            (0x1ff0, 16, true),
            (window::SHARED, 1, false),
            (window::SHARED - 4, 8, false),
            (u64::MAX, 8, false),
        ] {
            assert_eq!(memory.insert(base, vec![0; len]), fits, "{base:#x} + {len}");
        }
        assert!(memory.allocations().windows(2).all(|pair| pair[0].end() <= pair[1].base));
    }
}
