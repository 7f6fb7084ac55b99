//! Places buffers in device memory, at the same addresses on every device.

use std::collections::BTreeMap;

use strata_workloads::{DeviceError, DevicePtr};

use super::holes::Holes;

/// The first address handed out. Null and small addresses are invalid.
const BASE: u64 = 0x10_0000;
/// Alignment of a buffer. CUDA C programming guide, "Device Memory Accesses": at least 256 bytes.
pub const ALIGN: u64 = 256;
/// Unmapped bytes after each buffer, on devices that should catch accesses past a buffer's end.
pub const GAP: u64 = 256;

/// A buffer in device memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Name that reports use.
    pub name: String,
    /// First address of the buffer.
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

/// Allocates from the lowest free range that fits, or after all buffers.
#[derive(Clone, Debug)]
pub struct Heap {
    /// Kept sorted by address.
    buffers: Vec<Buffer>,
    holes: Holes,
    /// Ranges that were reserved, start to end; buffers are placed in them one by one.
    reserved: BTreeMap<u64, u64>,
    /// What to say of an access to a reserved byte that no buffer holds.
    of_reserved: &'static str,
    next: u64,
    touched: u64,
    limit: u64,
    gap: u64,
}

impl Heap {
    /// A heap for `capacity_bytes` bytes of device memory, with `gap` unmapped bytes (a multiple of 256)
    /// after each buffer.
    pub fn new(capacity_bytes: u64, gap: u64) -> Self {
        let limit = BASE.saturating_add(capacity_bytes);
        Heap {
            buffers: Vec::new(),
            holes: Holes::default(),
            reserved: BTreeMap::new(),
            of_reserved: "",
            next: BASE,
            touched: BASE,
            limit,
            gap,
        }
    }

    /// Bytes that a buffer and its gap take; never 0, so no two buffers start at the same address.
    fn extent(&self, bytes: u64) -> Option<u64> {
        bytes.checked_next_multiple_of(ALIGN)?.checked_add(self.gap).map(|extent| extent.max(ALIGN))
    }

    /// Allocates a buffer at a multiple of `align`, a power of two no less than `ALIGN`. The buffer and its
    /// gap end below `floor`.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] if no free range is large enough.
    pub fn alloc(
        &mut self,
        name: &str,
        bytes: u64,
        align: u64,
        floor: u64,
    ) -> Result<DevicePtr, DeviceError> {
        let start = self.take(name, bytes, align, floor)?;
        self.insert(name, start, bytes);
        Ok(DevicePtr(start))
    }

    /// Takes a range that holds a buffer and its gap; see [`Heap::alloc`].
    fn take(&mut self, name: &str, bytes: u64, align: u64, floor: u64) -> Result<u64, DeviceError> {
        let no_room = || DeviceError::OutOfMemory { name: name.to_owned(), bytes };
        let extent = self.extent(bytes).ok_or_else(no_room)?;
        Ok(match self.holes.take(extent, align) {
            Some(start) => start,
            None => {
                let start = self.next.checked_next_multiple_of(align).ok_or_else(no_room)?;
                let inside = |start: &u64| start.checked_add(bytes).is_some_and(|end| end <= self.limit);
                let above = |start: &u64| start.checked_add(extent).filter(|next| *next <= floor);
                let next = Some(start).filter(inside).as_ref().and_then(above).ok_or_else(no_room)?;
                self.holes.give(self.next, start);
                self.next = next;
                self.touched = self.touched.max(next);
                start
            }
        })
    }

    fn insert(&mut self, name: &str, start: u64, bytes: u64) -> &Buffer {
        let place = self.buffers.partition_point(|buffer| buffer.start < start);
        self.buffers.insert(place, Buffer { name: name.to_owned(), start, bytes });
        &self.buffers[place]
    }

    /// Takes a range as [`Heap::alloc`] does, but makes it no buffer: [`Heap::place`] puts buffers in it.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] if no free range is large enough.
    pub fn reserve(&mut self, bytes: u64, align: u64, floor: u64) -> Result<u64, DeviceError> {
        let start = self.take("reserved memory", bytes, align, floor)?;
        self.reserved.insert(start, start + bytes);
        Ok(start)
    }

    /// Puts a buffer in reserved memory, which must hold it and have no other buffer there.
    pub fn place(&mut self, name: &str, start: u64, bytes: u64) -> &Buffer {
        let end = self.reserved_end(start).expect("the memory is reserved");
        assert!(start + bytes <= end, "a buffer in reserved memory does not fit it");
        self.insert(name, start, bytes)
    }

    /// Removes the buffer that [`Heap::place`] put at an address.
    pub fn displace(&mut self, start: u64) -> Option<Buffer> {
        let place = self.buffers.binary_search_by_key(&start, |buffer| buffer.start).ok()?;
        Some(self.buffers.remove(place))
    }

    /// Gives reserved memory back. No buffer is left in it.
    pub fn release(&mut self, start: u64) {
        let end = self.reserved.remove(&start).expect("the memory is reserved");
        self.give(start, end - start);
    }

    /// Says what to add about an access to reserved memory that no buffer holds.
    pub fn explain_reserved(&mut self, sentence: &'static str) {
        self.of_reserved = sentence;
    }

    /// The end of the reserved range that contains an address.
    fn reserved_end(&self, address: u64) -> Option<u64> {
        let (_, end) = self.reserved.range(..=address).next_back()?;
        (address < *end).then_some(*end)
    }

    /// Removes the buffer that starts at `ptr`.
    ///
    /// # Errors
    /// [`DeviceError::NoBuffer`] if no buffer starts there.
    pub fn free(&mut self, ptr: DevicePtr) -> Result<Buffer, DeviceError> {
        let place = self.buffers.binary_search_by_key(&ptr.0, |buffer| buffer.start);
        let buffer = self.buffers.remove(place.map_err(|_| DeviceError::NoBuffer { ptr })?);
        self.give(buffer.start, buffer.bytes);
        Ok(buffer)
    }

    /// Makes a buffer's range and its gap free.
    fn give(&mut self, start: u64, bytes: u64) {
        let extent = self.extent(bytes).expect("it was taken");
        self.holes.give(start, start + extent);
        if let Some(start) = self.holes.take_last(self.next) {
            self.next = start;
        }
    }

    /// The index of the buffer that contains a range, and the range's offset in that buffer.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] if the range is not within one buffer.
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

    /// The buffer that contains an address.
    pub fn containing(&self, address: u64) -> Option<&Buffer> {
        let (index, _) = self.find(DevicePtr(address), 1).ok()?;
        Some(&self.buffers[index])
    }

    /// Continues a sentence about an access that lies in no buffer: which buffer is nearest, and how far. Empty
    /// when there are no buffers.
    pub fn nearest(&self, address: u64, bytes: u64) -> String {
        let end = address.saturating_add(bytes);
        let after = self.buffers.partition_point(|buffer| buffer.start <= address);
        // A buffer that the access overlaps is nearer than any that it only touches.
        let below = self.buffers[..after].last().map(|buffer| {
            let away = address as i128 - i128::from(buffer.end());
            (away, buffer, "ends", "below")
        });
        let above = self.buffers.get(after).map(|buffer| {
            let away = i128::from(buffer.start) - i128::from(end);
            (away, buffer, "begins", "above")
        });
        let reserved = match self.reserved_end(address) {
            Some(end_of_reserved) if end <= end_of_reserved => self.of_reserved,
            _ => "",
        };
        let nearest = below.into_iter().chain(above).min_by_key(|(away, ..)| *away);
        let Some((away, buffer, edge, side)) = nearest else { return reserved.to_owned() };
        let Buffer { name, start, bytes } = buffer;
        let where_to = match (away, away.unsigned_abs()) {
            (0, _) => format!("right {side}"),
            (..0, inside) => format!("{} into it", count(inside)),
            (_, away) => format!("{} {side}", count(away)),
        };
        format!("; `{name}` ({} at {start:#x}) {edge} {where_to}{reserved}", count((*bytes).into()))
    }

    /// All buffers, sorted by address.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// `[start, end)` of each buffer, sorted by address.
    pub fn ranges(&self) -> Vec<(u64, u64)> {
        self.buffers.iter().map(|buffer| (buffer.start, buffer.end())).collect()
    }

    /// The first address after all buffers.
    pub fn end(&self) -> u64 {
        self.next
    }

    /// The first address that no buffer has ever covered; memory from here on is in its initial state.
    pub fn touched(&self) -> u64 {
        self.touched
    }

    /// Free bytes below `floor`. Gaps count as used.
    pub fn free_bytes(&self, floor: u64) -> u64 {
        self.holes.bytes() + self.limit.min(floor).saturating_sub(self.next)
    }
}

/// A number of bytes with its unit.
fn count(bytes: u128) -> String {
    if bytes == 1 { "1 byte".into() } else { format!("{bytes} bytes") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alloc(heap: &mut Heap, bytes: u64) -> Result<DevicePtr, DeviceError> {
        heap.alloc("b", bytes, ALIGN, u64::MAX)
    }

    #[test]
    fn a_range_lies_in_one_buffer_or_is_refused() {
        let mut heap = Heap::new(1 << 20, GAP);
        let a = alloc(&mut heap, 100).unwrap();
        let b = alloc(&mut heap, 8).unwrap();
        assert_eq!((a.0 % ALIGN, b.0 % ALIGN), (0, 0));
        assert_eq!(heap.find(DevicePtr(a.0 + 90), 10), Ok((0, 90)));
        assert_eq!(heap.find(b, 8), Ok((1, 0)));
        assert!(heap.find(DevicePtr(a.0 + 90), 11).is_err());
        assert!(heap.find(DevicePtr(0), 1).is_err());
        assert!(heap.find(DevicePtr(u64::MAX), 2).is_err());
    }

    #[test]
    fn the_nearest_buffer_is_named_with_its_distance() {
        let mut heap = Heap::new(1 << 20, GAP);
        assert_eq!(heap.nearest(BASE, 4), "");
        heap.alloc("a", 101, ALIGN, u64::MAX).unwrap();
        heap.alloc("b", 1, ALIGN, u64::MAX).unwrap();
        let (a, b) = ("; `a` (101 bytes at 0x100000) ", "; `b` (1 byte at 0x100200) ");
        assert_eq!(heap.nearest(BASE + 101, 1), format!("{a}ends right below"));
        assert_eq!(heap.nearest(BASE + 100, 4), format!("{a}ends 1 byte into it"));
        assert_eq!(heap.nearest(BASE + 104, 4), format!("{a}ends 3 bytes below"));
        assert_eq!(heap.nearest(BASE + 0x1f0, 8), format!("{b}begins 8 bytes above"));
        assert_eq!(heap.nearest(BASE + 0x1fc, 4), format!("{b}begins right above"));
        assert_eq!(heap.nearest(BASE + 0x1fc, 8), format!("{b}begins 4 bytes into it"));
        assert_eq!(heap.nearest(BASE + 0x300, 4), format!("{b}ends 255 bytes below"));
        assert_eq!(heap.nearest(0, 4), format!("{a}begins 1048572 bytes above"));
        assert!(heap.nearest(u64::MAX, 8).starts_with(b));
    }

    #[test]
    fn reserved_memory_holds_buffers_and_is_given_back_whole() {
        let mut heap = Heap::new(1 << 20, 0);
        let free = heap.free_bytes(u64::MAX);
        let start = heap.reserve(4096, ALIGN, u64::MAX).unwrap();
        heap.explain_reserved("; reserved");
        assert_eq!(heap.free_bytes(u64::MAX), free - 4096);
        assert!(heap.find(DevicePtr(start), 1).is_err(), "it is no buffer");
        assert_eq!(heap.nearest(start, 4), "; reserved");
        heap.place("a", start + 256, 100);
        heap.place("b", start, 256);
        assert_eq!(heap.find(DevicePtr(start + 300), 1), Ok((1, 44)));
        let a = format!("; `a` (100 bytes at {:#x}) ends ", start + 256);
        assert_eq!(heap.nearest(start + 356, 4), format!("{a}right below; reserved"));
        assert_eq!(heap.nearest(start + 4096, 4), format!("{a}3740 bytes below"), "beyond what is reserved");
        assert_eq!(heap.nearest(start + 4092, 8), format!("{a}3736 bytes below"), "and across its end");
        assert_eq!(heap.displace(start + 256).map(|buffer| buffer.bytes), Some(100));
        assert_eq!(heap.displace(start + 256), None);
        assert!(heap.displace(start).is_some());
        heap.release(start);
        assert_eq!((heap.free_bytes(u64::MAX), heap.end()), (free, BASE));
    }

    #[test]
    fn a_full_memory_refuses() {
        let mut heap = Heap::new(1 << 20, GAP);
        assert!(alloc(&mut heap, (1 << 20) + 1).is_err());
        assert!(alloc(&mut heap, u64::MAX).is_err());
        assert!(heap.alloc("b", 1 << 10, ALIGN, BASE + (1 << 10)).is_err(), "no room for the gap");
        assert_eq!(heap.end(), BASE, "a refusal takes nothing");
        assert!(alloc(&mut heap, 1 << 20).is_ok());
    }

    #[test]
    fn what_is_freed_is_used_again() {
        let mut heap = Heap::new(1 << 20, GAP);
        let [a, b, c] = [1000, 1000, 1000].map(|bytes| alloc(&mut heap, bytes).unwrap());
        let all = heap.free_bytes(u64::MAX);
        assert_eq!(heap.free(b).map(|buffer| buffer.bytes), Ok(1000));
        assert_eq!(heap.free(b), Err(DeviceError::NoBuffer { ptr: b }));
        assert_eq!(heap.free(a.offset(1)), Err(DeviceError::NoBuffer { ptr: a.offset(1) }));
        assert!(heap.find(b, 1).is_err());
        assert_eq!(alloc(&mut heap, 1025), Ok(DevicePtr(c.0 + (c.0 - b.0))), "too large for the hole");
        assert_eq!(alloc(&mut heap, 1024), Ok(b));
        assert_eq!(
            heap.buffers()
                .iter()
                .map(|buffer| buffer.start)
                .collect::<Vec<_>>()
                .windows(2)
                .filter(|pair| pair[0] >= pair[1])
                .count(),
            0
        );
        let touched = heap.touched();
        for start in heap.buffers().iter().map(|buffer| DevicePtr(buffer.start)).collect::<Vec<_>>() {
            heap.free(start).unwrap();
        }
        assert_eq!((heap.end(), heap.touched()), (BASE, touched));
        assert!(heap.free_bytes(u64::MAX) > all);
        let aligned = heap.alloc("b", 1, 1 << 16, u64::MAX).unwrap();
        assert_eq!(aligned.0 % (1 << 16), 0);
    }
}
