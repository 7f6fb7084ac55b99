//! Device memory as clients get it: blocks of whole pages, in which small buffers lie side by side.
//!
//! Hardware protects pages, not buffers: a kernel that runs slightly off a buffer reaches the next one, or unused bytes,
//! and nobody notices. With [`Bounds::Exact`] buffers lie at the same addresses, and kernels reach what the client asked
//! for and nothing else; with [`Bounds::Guard`] no two buffers touch, too. With [`Bounds::Page`] they reach whole pages, as on hardware, for programs that rely on it
//! (Rodinia's `srad_v2` reads a row before its image). Copies and fills are always checked against buffers to the byte.

use std::collections::BTreeMap;

use strata_gpu::device::{Backend, Card, Reserved};
use strata_workloads::{DeviceError, DevicePtr};

/// Allocation unit in bytes: the alignment of `cuMemAlloc` (CUDA C programming guide, "Device Memory
/// Accesses").
pub const UNIT: u64 = 256;
/// Size of a page in bytes: that of a GPU's large pages, and the value of `cuMemGetAllocationGranularity`.
const PAGE: u64 = 2 << 20;
/// Buffers larger than this many bytes get a block of their own.
const SMALL: u64 = 1 << 20;

/// What faults say of an access that hardware would let pass.
const HARDWARE: &str = "; hardware protects whole pages and lets this access pass, as `--bounds page` does";

/// How far a kernel reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bounds {
    /// To the last byte that the client asked for.
    #[default]
    Exact,
    /// As `Exact`; and no allocation begins where another one ends, so that an access past one is not in the next.
    Guard,
    /// To the end of the page, as on hardware.
    Page,
}

/// Places the device buffers of clients in blocks.
#[derive(Debug, Default)]
pub struct Blocks {
    bounds: Bounds,
    /// Keyed by start address.
    blocks: BTreeMap<u64, Block>,
    /// A page before all others that stands for the memory a context takes for itself.
    context: Option<DevicePtr>,
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
    /// No block yet.
    pub fn new(bounds: Bounds) -> Blocks {
        Blocks { bounds, ..Blocks::default() }
    }

    /// Allocates a zeroed buffer of `bytes` bytes and returns its address. `name` appears in the messages of faults.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] if no free range is large enough.
    pub fn allocate<B: Backend>(
        &mut self,
        card: &mut Card<B>,
        name: &str,
        bytes: u64,
    ) -> Result<u64, DeviceError> {
        let no_room = || DeviceError::OutOfMemory { name: name.to_owned(), bytes };
        let unit = bytes.max(1).checked_next_multiple_of(UNIT);
        let unit = unit.and_then(|unit| unit.checked_add(self.guard())).ok_or_else(no_room)?;
        if self.context.is_none() {
            card.explain_reserved(HARDWARE);
            self.context = Some(self.pages(card, "context", PAGE)?.at);
        }
        let hole = |(start, block): (&u64, &Block)| Some((*start, block.hole(*start, unit)?));
        let found = if unit > SMALL { None } else { self.blocks.iter().find_map(hole) };
        let (block, start) = match found {
            Some(found) => found,
            None => {
                let whole = unit.checked_next_multiple_of(PAGE).ok_or_else(no_room)?;
                let Reserved { at: DevicePtr(start), used, .. } = self.pages(card, "block", whole)?;
                let (end, touched) = (start + whole, start + used);
                self.blocks.insert(start, Block { end, taken: BTreeMap::new(), touched });
                (start, start)
            }
        };
        let block = self.blocks.get_mut(&block).expect("it was found, or made");
        let used = block.touched.saturating_sub(start).min(unit);
        block.taken.insert(start, start + unit);
        block.touched = block.touched.max(start + unit);
        match self.bounds {
            Bounds::Exact | Bounds::Guard => card.place(name, DevicePtr(start), bytes, used),
            Bounds::Page => card.fill(DevicePtr(start), 0, used)?,
        }
        Ok(start)
    }

    /// Bytes that stay unused after each allocation.
    fn guard(&self) -> u64 {
        if self.bounds == Bounds::Guard { UNIT } else { 0 }
    }

    /// Takes whole pages, which kernels reach if bounds are pages.
    fn pages<B: Backend>(&self, card: &mut Card<B>, name: &str, bytes: u64) -> Result<Reserved, DeviceError> {
        let pages = card.reserve(bytes, PAGE)?;
        if self.bounds == Bounds::Page {
            card.place(name, pages.at, bytes, pages.used);
            return Ok(Reserved { used: 0, ..pages });
        }
        Ok(pages)
    }

    /// Frees the buffer that starts at an address. Returns false if there is none.
    pub fn free<B: Backend>(&mut self, card: &mut Card<B>, start: u64) -> bool {
        let Some((&first, block)) = self.blocks.range_mut(..=start).next_back() else { return false };
        if block.taken.remove(&start).is_none() {
            return false;
        }
        if self.bounds != Bounds::Page {
            card.displace(DevicePtr(start)).expect("a buffer stays until it is freed");
        }
        if block.taken.is_empty() {
            self.blocks.remove(&first);
            if self.bounds == Bounds::Page {
                card.displace(DevicePtr(first)).expect("a block stays as long as a buffer in it");
            }
            card.release(DevicePtr(first));
        }
        true
    }

    /// Allocates a zeroed buffer outside all blocks, in multiples of `align` bytes.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] if no free range is large enough.
    pub fn allocate_alone<B: Backend>(
        &mut self,
        card: &mut Card<B>,
        name: &str,
        bytes: u64,
        align: u64,
    ) -> Result<u64, DeviceError> {
        let no_room = || DeviceError::OutOfMemory { name: name.to_owned(), bytes };
        let whole = bytes.checked_next_multiple_of(align);
        let whole = whole.and_then(|whole| whole.checked_add(self.guard())).ok_or_else(no_room)?;
        let Reserved { at, used, .. } = card.reserve(whole, align)?;
        card.explain_reserved(HARDWARE);
        let reach = if self.bounds == Bounds::Page { whole } else { bytes };
        card.place(name, at, reach, used);
        Ok(at.0)
    }

    /// Frees a buffer that lies outside all blocks. Returns false if there is none.
    pub fn free_alone<B: Backend>(&mut self, card: &mut Card<B>, start: u64) -> bool {
        let found = card.displace(DevicePtr(start)).is_ok();
        if found {
            card.release(DevicePtr(start));
        }
        found
    }

    /// Whether the card's buffer at `start` is a block or the contexts' page.
    pub fn contains(&self, start: u64) -> bool {
        self.blocks.contains_key(&start) || self.context == Some(DevicePtr(start))
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
        let (mut card, mut blocks) = (card(64 << 20), Blocks::new(Bounds::Page));
        let mut get = |bytes| blocks.allocate(&mut card, "b", bytes).unwrap();
        let (a, b, large, c) = (get(1), get(UNIT + 1), get(SMALL + 1), get(SMALL));
        assert_eq!((a % PAGE, b - a, c - b), (0, UNIT, 2 * UNIT));
        assert_eq!((large % PAGE, large - a), (0, PAGE), "blocks lie side by side too");
        assert!(card.buffer_of(DevicePtr(a - 1)).is_some(), "there is something before the first");
        assert!(blocks.free(&mut card, b));
        assert!(!blocks.free(&mut card, b));
        assert_eq!(blocks.allocate(&mut card, "b", 2 * UNIT).unwrap(), b);
    }

    #[test]
    fn what_is_freed_is_zero_when_it_is_given_again_and_whole_blocks_go_back() {
        let (mut card, mut blocks) = (card(16 << 20), Blocks::default());
        let keep = blocks.allocate(&mut card, "b", UNIT).unwrap();
        let free = card.free_bytes();
        let a = blocks.allocate(&mut card, "b", UNIT).unwrap();
        card.write(DevicePtr(a), &[7; UNIT as usize]).unwrap();
        assert!(blocks.free(&mut card, a));
        let again = blocks.allocate(&mut card, "b", 2 * UNIT).unwrap();
        let mut found = [1; 2 * UNIT as usize];
        card.read(DevicePtr(again), &mut found).unwrap();
        assert_eq!((again, found), (a, [0; 2 * UNIT as usize]));
        assert_eq!(card.free_bytes(), free);
        let large = blocks.allocate(&mut card, "b", 4 << 20).unwrap();
        assert!(blocks.allocate(&mut card, "b", 1 << 40).is_err());
        assert!(blocks.contains(large) && !blocks.contains(again));
        assert!(blocks.free(&mut card, large) && blocks.free(&mut card, again));
        assert_eq!(card.free_bytes(), free);
        assert!(blocks.free(&mut card, keep));
        assert!(card.free_bytes() > free);
    }

    #[test]
    fn exact_buffers_lie_where_those_of_pages_do_and_end_to_the_byte() {
        let sizes = [1, 4000, SMALL + 1, 4096, 700, 3 << 20];
        let starts = |bounds| {
            let (mut card, mut blocks) = (card(64 << 20), Blocks::new(bounds));
            let mut starts: Vec<u64> =
                sizes.iter().map(|bytes| blocks.allocate(&mut card, "b", *bytes).unwrap()).collect();
            starts.push(blocks.allocate_alone(&mut card, "host", 5000, 4096).unwrap());
            for freed in [1, 2, 6] {
                let start = starts[freed];
                assert!(if freed == 6 {
                    blocks.free_alone(&mut card, start)
                } else {
                    blocks.free(&mut card, start)
                });
            }
            starts.push(blocks.allocate(&mut card, "b", 100).unwrap());
            starts.push(blocks.allocate(&mut card, "b", 5 << 20).unwrap());
            (starts, card)
        };
        let (exact, card) = starts(Bounds::Exact);
        let (page, of_pages) = starts(Bounds::Page);
        assert_eq!(exact, page);
        assert_eq!(card.free_bytes(), of_pages.free_bytes());
        let reach = |card: &Card<Functional>, start: u64, byte: u64| {
            card.buffer_of(DevicePtr(start + byte)).map(|buffer| buffer.start)
        };
        assert_eq!((reach(&card, exact[4], 699), reach(&card, exact[4], 700)), (Some(exact[4]), None));
        assert!(reach(&of_pages, page[4], 700).is_some());
        assert_eq!(reach(&card, exact[0], PAGE / 2), None);
        assert_eq!(card.buffer_of(DevicePtr(exact[0] - 1)), None, "the context's memory is no client's");
    }

    #[test]
    fn guarded_buffers_do_not_touch() {
        let (mut card, mut blocks) = (card(64 << 20), Blocks::new(Bounds::Guard));
        let starts = [UNIT, 3 * UNIT, SMALL, 2 << 20].map(|bytes| {
            let start = blocks.allocate(&mut card, "b", bytes).unwrap();
            (start, bytes)
        });
        for (start, bytes) in starts {
            let after = |byte: u64| card.buffer_of(DevicePtr(start + bytes + byte));
            assert_eq!((after(0), after(UNIT - 1)), (None, None));
        }
    }

    #[test]
    fn memory_that_was_given_back_is_zero_when_it_is_given_again() {
        for bounds in [Bounds::Exact, Bounds::Guard, Bounds::Page] {
            let (mut card, mut blocks) = (card(16 << 20), Blocks::new(bounds));
            let first = blocks.allocate(&mut card, "b", 3000).unwrap();
            card.write(DevicePtr(first), &[7; 3000]).unwrap();
            assert!(blocks.free(&mut card, first));
            let again = blocks.allocate(&mut card, "b", 2999).unwrap();
            let mut found = [1; 2999];
            card.read(DevicePtr(again), &mut found).unwrap();
            assert_eq!((again, found), (first, [0; 2999]), "{bounds:?}");
        }
    }
}
