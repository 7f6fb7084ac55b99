//! Device memory as clients get it: blocks of whole pages, in which small buffers lie side by side.
//!
//! Hardware protects pages, not buffers: a kernel that runs slightly off a buffer reaches the next one, or
//! unused bytes. Programs that do so by mistake run on real hardware (Rodinia's `srad_v2` reads a row before
//! its image), and run here. Accesses to a page that was never handed out fault. Copies and fills are still
//! checked against buffers to the byte.

use std::collections::BTreeMap;

use strata_gpu::device::{Backend, Card};
use strata_workloads::{DeviceError, DevicePtr};

/// Allocation unit in bytes: the alignment of `cuMemAlloc` (CUDA C programming guide, "Device Memory
/// Accesses").
pub const UNIT: u64 = 256;
/// Size of a page in bytes: that of a GPU's large pages, and the value of `cuMemGetAllocationGranularity`.
const PAGE: u64 = 2 << 20;
/// Buffers larger than this many bytes get a block of their own.
const SMALL: u64 = 1 << 20;

/// Places the device buffers of clients in blocks.
#[derive(Debug, Default)]
pub struct Blocks {
    /// Keyed by start address.
    blocks: BTreeMap<u64, Block>,
    /// A page before all others that stands for the memory a context takes for itself.
    own: Option<DevicePtr>,
}

#[derive(Debug)]
struct Block {
    end: u64,
    /// End of each buffer in the block, by its start.
    taken: BTreeMap<u64, u64>,
    /// No buffer has ever extended beyond this address.
    touched: u64,
}

impl Block {
    fn new(start: u64, bytes: u64) -> Block {
        Block { end: start + bytes, taken: BTreeMap::new(), touched: start }
    }

    /// The lowest address with `bytes` free bytes.
    fn hole(&self, start: u64, bytes: u64) -> Option<u64> {
        let mut from = start;
        for (taken, end) in &self.taken {
            if taken - from >= bytes {
                return Some(from);
            }
            from = *end;
        }
        (self.end - from >= bytes).then_some(from)
    }
}

impl Blocks {
    /// Allocates a zeroed buffer of `bytes` bytes and returns its address.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] if no free range is large enough.
    pub fn allocate<B: Backend>(&mut self, card: &mut Card<B>, bytes: u64) -> Result<u64, DeviceError> {
        let no_room = || DeviceError::OutOfMemory { name: "buffer".into(), bytes };
        let bytes = bytes.max(1).checked_next_multiple_of(UNIT).ok_or_else(no_room)?;
        if self.own.is_none() {
            self.own = Some(card.alloc_aligned("context", PAGE, PAGE)?);
        }
        let hole = |(start, block): (&u64, &Block)| Some((*start, block.hole(*start, bytes)?));
        let found = if bytes > SMALL { None } else { self.blocks.iter().find_map(hole) };
        let (block, start) = match found {
            Some(found) => found,
            None => {
                let whole = bytes.checked_next_multiple_of(PAGE).ok_or_else(no_room)?;
                let start = card.alloc_aligned("block", whole, PAGE)?.0;
                self.blocks.insert(start, Block::new(start, whole));
                (start, start)
            }
        };
        let block = self.blocks.get_mut(&block).expect("it was found, or made");
        let used = block.touched.saturating_sub(start).min(bytes);
        block.taken.insert(start, start + bytes);
        block.touched = block.touched.max(start + bytes);
        card.fill(DevicePtr(start), 0, used)?;
        Ok(start)
    }

    /// Frees the buffer that starts at an address. Returns false if there is none.
    pub fn free<B: Backend>(&mut self, card: &mut Card<B>, start: u64) -> bool {
        let Some((&first, block)) = self.blocks.range_mut(..=start).next_back() else { return false };
        if block.taken.remove(&start).is_none() {
            return false;
        }
        if block.taken.is_empty() {
            self.blocks.remove(&first);
            card.free(DevicePtr(first)).expect("a block stays as long as a buffer in it");
        }
        true
    }

    /// Whether the card's buffer at `start` is a block or the contexts' own page.
    pub fn contains(&self, start: u64) -> bool {
        self.blocks.contains_key(&start) || self.own == Some(DevicePtr(start))
    }
}

#[cfg(test)]
mod tests {
    use strata_gpu::device::Functional;
    use strata_ptx::reference::Options;

    use super::*;

    fn card(bytes: u64) -> Card<Functional> {
        Card::without_gaps(Functional::new(bytes, Options::default()))
    }

    #[test]
    fn small_buffers_lie_side_by_side_and_large_ones_by_themselves() {
        let (mut card, mut blocks) = (card(64 << 20), Blocks::default());
        let mut get = |bytes| blocks.allocate(&mut card, bytes).unwrap();
        let (a, b, large, c) = (get(1), get(UNIT + 1), get(SMALL + 1), get(SMALL));
        assert_eq!((a % PAGE, b - a, c - b), (0, UNIT, 2 * UNIT));
        assert_eq!((large % PAGE, large - a), (0, PAGE), "blocks lie side by side too");
        assert!(card.buffer_of(DevicePtr(a - 1)).is_some(), "there is something before the first");
        assert!(blocks.free(&mut card, b));
        assert!(!blocks.free(&mut card, b));
        assert_eq!(blocks.allocate(&mut card, 2 * UNIT).unwrap(), b);
    }

    #[test]
    fn what_is_freed_is_zero_when_it_is_given_again_and_whole_blocks_go_back() {
        let (mut card, mut blocks) = (card(16 << 20), Blocks::default());
        let keep = blocks.allocate(&mut card, UNIT).unwrap();
        let free = card.free_bytes();
        let a = blocks.allocate(&mut card, UNIT).unwrap();
        card.write(DevicePtr(a), &[7; UNIT as usize]).unwrap();
        assert!(blocks.free(&mut card, a));
        let again = blocks.allocate(&mut card, 2 * UNIT).unwrap();
        let mut found = [1; 2 * UNIT as usize];
        card.read(DevicePtr(again), &mut found).unwrap();
        assert_eq!((again, found), (a, [0; 2 * UNIT as usize]));
        assert_eq!(card.free_bytes(), free);
        let large = blocks.allocate(&mut card, 4 << 20).unwrap();
        assert!(blocks.allocate(&mut card, 1 << 40).is_err());
        assert!(blocks.contains(large) && !blocks.contains(again));
        assert!(blocks.free(&mut card, large) && blocks.free(&mut card, again));
        assert_eq!(card.free_bytes(), free);
        assert!(blocks.free(&mut card, keep));
        assert!(card.free_bytes() > free);
    }
}
