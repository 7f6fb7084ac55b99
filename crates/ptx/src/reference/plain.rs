//! Plain loads and stores: all bytes of an access lie in one allocation or in the CTA's own shared memory, and nobody
//! watches.
//!
//! Whatever else an access may be (misaligned, out of bounds, in several allocations, of another CTA's memory or a mapping)
//! is left untouched to [`access`](super::access), which finds what is wrong with it.

use super::global::GlobalMemory;
use crate::exec::memory::{CTA_SHARED_BITS, extend};
use crate::exec::{InPlace, Operands};
use crate::isa::{Instruction, MemoryMode, Op, Space, Ty};
use crate::lanes::{ALL_LANES, LaneMask, Row, WARP_LANES, lanes_of, mask_of};

/// The memory that plain accesses reach.
pub(super) struct Pieces<'a> {
    pub global: &'a mut GlobalMemory,
    /// The CTA's shared memory; nothing while some of it is mapped.
    pub shared: &'a mut [u8],
    /// Stores so far.
    pub stores: u64,
}

/// Carries out an access of at least one lane. False, with nothing done, when it is not plain.
pub(super) type Plain = fn(&Instruction, &mut InPlace<'_>, LaneMask, &mut Pieces<'_>) -> bool;

/// What carries an instruction out where it is plain, if it can be.
pub(super) fn of(instruction: &Instruction) -> Option<Plain> {
    macro_rules! by_bytes {
        ($what:ident, $mode:ident, $memory:ty) => {
            match $mode.ty.bytes() * usize::from($mode.vector.max(1)) {
                1 => $what::<1, $memory>,
                2 if $mode.vector < 2 => $what::<2, $memory>,
                4 if $mode.vector < 2 => $what::<4, $memory>,
                8 if $mode.ty.bytes() >= 4 => $what::<8, $memory>,
                16 if $mode.ty.bytes() >= 4 => $what::<16, $memory>,
                32 if $mode.ty.bytes() >= 4 => $what::<32, $memory>,
                _ => return None,
            }
        };
    }
    let (Op::Load(mode) | Op::Store(mode)) = instruction.op else { return None };
    let loads = matches!(instruction.op, Op::Load(_));
    Some(match mode.space {
        Space::Global | Space::Const | Space::Generic if loads => by_bytes!(load, mode, Global),
        Space::Global | Space::Const | Space::Generic => by_bytes!(store, mode, Global),
        Space::Shared if loads => by_bytes!(load, mode, Shared),
        Space::Shared => by_bytes!(store, mode, Shared),
        Space::Local | Space::Param => return None,
    })
}

/// One of the memories.
trait Memory {
    /// Whether addresses have a high word; it must be the same in all lanes.
    const WIDE: bool;

    /// The piece of memory that holds an address, and its own address.
    fn piece<'a>(pieces: &'a mut Pieces<'_>, address: u64) -> Option<(u64, &'a mut [u8])>;
}

/// Device memory. No allocation lies in a window, so generic addresses in one of them are those of device memory.
struct Global;

impl Memory for Global {
    const WIDE: bool = true;

    #[inline(always)]
    fn piece<'a>(pieces: &'a mut Pieces<'_>, address: u64) -> Option<(u64, &'a mut [u8])> {
        let allocation = pieces.global.containing(address)?;
        Some((allocation.base, &mut allocation.bytes))
    }
}

/// The CTA's shared memory.
struct Shared;

impl Memory for Shared {
    const WIDE: bool = false;

    #[inline(always)]
    fn piece<'a>(pieces: &'a mut Pieces<'_>, _: u64) -> Option<(u64, &'a mut [u8])> {
        // Beyond that an address names a CTA of the cluster.
        let end = pieces.shared.len().min(1 << CTA_SHARED_BITS);
        Some((0, &mut pieces.shared[..end]))
    }
}

/// How the lanes of an access lie.
#[derive(Clone, Copy)]
enum Layout {
    /// Each behind the one before.
    Consecutive,
    /// All at one address.
    Together,
    /// In any other way.
    Apart,
}

/// The addresses of an access: those of its lanes lie `base` above the low words.
struct Addresses<'a> {
    low: &'a Row,
    base: u64,
    lanes: LaneMask,
    layout: Layout,
}

impl<'a> Addresses<'a> {
    /// `None` when high words differ.
    #[inline(always)]
    fn new<const N: usize, M: Memory>(
        instruction: &Instruction,
        operands: &'a InPlace<'_>,
        lanes: LaneMask,
    ) -> Option<Self> {
        let (low, high) = (operands.source(0, 0), operands.source(0, usize::from(M::WIDE)));
        let first = first_of(lanes);
        let (own, own_high, step) = (low.0[first], high.0[first], N as u32);
        let mut base = instruction.offset as u64;
        if M::WIDE {
            base = base.wrapping_add(u64::from(own_high) << 32);
        }
        let start = own.wrapping_sub(step * first as u32);
        let follows = |lane: usize| low.0[lane].wrapping_sub(step * lane as u32) == start;
        let layout = if lanes & !mask_of(|lane| follows(lane) && (!M::WIDE || high.0[lane] == own_high)) == 0
        {
            Layout::Consecutive
        } else if M::WIDE && lanes & !equal(high, own_high) != 0 {
            return None;
        } else if lanes & !equal(low, own) == 0 {
            Layout::Together
        } else {
            Layout::Apart
        };
        Some(Addresses { low, base, lanes, layout })
    }

    /// The lowest active lane.
    #[inline(always)]
    fn first(&self) -> usize {
        first_of(self.lanes)
    }

    /// The highest active lane.
    #[inline(always)]
    fn last(&self) -> usize {
        (31 - self.lanes.leading_zeros() as usize) % WARP_LANES
    }

    /// The low word of the first lane.
    #[inline(always)]
    fn own(&self) -> u32 {
        self.low.0[self.first()]
    }

    /// So many cells from the first lane's address on, if they lie in one piece of memory.
    #[inline(always)]
    fn cells<'b, const N: usize, M: Memory>(
        &self,
        pieces: &'b mut Pieces<'_>,
        count: usize,
    ) -> Option<&'b mut [[u8; N]]> {
        let address = self.base.wrapping_add(u64::from(self.own()));
        let (start, piece) = M::piece(pieces, address)?;
        let length = N * count;
        let fits = address % N as u64 == 0 && u64::from(self.own()) + length as u64 <= 1 << 32;
        let place = usize::try_from(address - start).ok().filter(|_| fits)?;
        Some(piece.get_mut(place..)?.get_mut(..length)?.as_chunks_mut().0)
    }

    /// The cells of the piece of memory that holds the first lane's, and each lane's place among them: one beyond where it is
    /// not there or not aligned. Inactive lanes have the first one's.
    #[inline(always)]
    fn places<'b, const N: usize, M: Memory>(
        &self,
        pieces: &'b mut Pieces<'_>,
        places: &mut Row,
    ) -> Option<&'b mut [[u8; N]]> {
        let own = self.own();
        let (start, piece) = M::piece(pieces, self.base.wrapping_add(u64::from(own)))?;
        // Of the piece, low words reach what lies within 32 bits above the base.
        let above = start.wrapping_sub(self.base).cast_signed();
        let piece = piece.get_mut(usize::try_from(above.min(0).unsigned_abs()).ok()?..)?;
        let start = u32::try_from(above.max(0)).ok()?;
        let end = piece.len().min((u32::MAX - start) as usize);
        if (self.base.wrapping_add(u64::from(start))) % N as u64 != 0 {
            return None;
        }
        place_lanes(self, start, N.trailing_zeros(), places);
        Some(piece[..end].as_chunks_mut().0)
    }
}

#[inline(always)]
fn first_of(lanes: LaneMask) -> usize {
    lanes.trailing_zeros() as usize % WARP_LANES
}

/// The place of each lane's cell of `1 << shift` bytes behind a low word. It is far away where the lane's is not aligned:
/// bits that an aligned address does not have go to the top.
#[inline(never)]
fn place_lanes(addresses: &Addresses<'_>, start: u32, shift: u32, places: &mut Row) {
    *places = Row::splat(addresses.own());
    places.merge(addresses.lanes, addresses.low);
    for place in &mut places.0 {
        *place = place.wrapping_sub(start).rotate_right(shift);
    }
}

/// The lanes that have a value.
#[inline(never)]
fn equal(row: &Row, value: u32) -> LaneMask {
    row.lanes_equal(value)
}

/// The mode of a load or store.
#[inline(always)]
fn mode_of(instruction: &Instruction) -> MemoryMode {
    match instruction.op {
        Op::Load(mode) | Op::Store(mode) => mode,
        other => unreachable!("{other:?} is no load or store"),
    }
}

/// The slot and the half in which word `word` of a lane's bytes is.
#[inline(always)]
fn home(ty: Ty, word: usize) -> (usize, usize) {
    match ty.bytes() {
        8 => (word / 2, word % 2),
        16 => (word / 4, word % 4),
        _ => (word, 0),
    }
}

/// A lane's word; of less than one, all its bytes.
#[inline(always)]
fn word_of<const N: usize>(cell: &[u8; N], word: usize) -> u32 {
    let mut bytes = [0; 4];
    let width = N.min(4);
    bytes[..width].copy_from_slice(&cell[4 * word..][..width]);
    u32::from_le_bytes(bytes)
}

/// Writes a lane's word, or the low bytes of one.
#[inline(always)]
fn put<const N: usize>(cell: &mut [u8; N], word: usize, value: u32) {
    let width = N.min(4);
    cell[4 * word..][..width].copy_from_slice(&value.to_le_bytes()[..width]);
}

/// `ld` of `N` bytes a lane.
fn load<const N: usize, M: Memory>(
    instruction: &Instruction,
    operands: &mut InPlace<'_>,
    lanes: LaneMask,
    pieces: &mut Pieces<'_>,
) -> bool {
    let Some(addresses) = Addresses::new::<N, M>(instruction, operands, lanes) else { return false };
    match addresses.layout {
        Layout::Consecutive => {
            let first = addresses.first();
            let count = addresses.last() + 1 - first;
            let Some(cells) = addresses.cells::<N, M>(pieces, count) else { return false };
            if let Some(cells) = cells.first_chunk::<WARP_LANES>() {
                write::<N>(instruction, operands, lanes, |lane, word| Some(word_of(&cells[lane], word)))
            } else {
                let cell = |lane: usize| cells.get(lane.wrapping_sub(first)).unwrap_or(&[0; N]);
                write::<N>(instruction, operands, lanes, |lane, word| Some(word_of(cell(lane), word)))
            }
        }
        Layout::Together => {
            let Some([cell, ..]) = addresses.cells::<N, M>(pieces, 1) else { return false };
            write::<N>(instruction, operands, lanes, |_, word| Some(word_of(cell, word)))
        }
        Layout::Apart => {
            let mut places = Row::ZERO;
            let Some(cells) = addresses.places::<N, M>(pieces, &mut places) else { return false };
            write::<N>(instruction, operands, lanes, |lane, word| {
                Some(word_of(cells.get(places.0[lane] as usize)?, word))
            })
        }
    }
}

/// Writes what lanes have loaded, given by lane and word. False, with nothing done, when one is not there.
#[inline(always)]
fn write<const N: usize>(
    instruction: &Instruction,
    operands: &mut InPlace<'_>,
    lanes: LaneMask,
    value: impl Fn(usize, usize) -> Option<u32>,
) -> bool {
    let ty = mode_of(instruction).ty;
    for word in 0..N.div_ceil(4) {
        let mut row = Row::ZERO;
        for lane in 0..WARP_LANES {
            // A lane that has its first word has all.
            let Some(value) = value(lane, word) else { return false };
            row.0[lane] = value;
        }
        if N < 4 {
            for value in &mut row.0 {
                *value = extend(ty, *value);
            }
        }
        let (slot, half) = home(ty, word);
        operands.write(slot, half, lanes, &row);
    }
    true
}

/// `st` of `N` bytes a lane. Where lanes write the same bytes, the highest lane wins.
fn store<const N: usize, M: Memory>(
    instruction: &Instruction,
    operands: &mut InPlace<'_>,
    lanes: LaneMask,
    pieces: &mut Pieces<'_>,
) -> bool {
    let Some(addresses) = Addresses::new::<N, M>(instruction, operands, lanes) else { return false };
    let ty = mode_of(instruction).ty;
    let source = |word: usize| {
        let (slot, half) = home(ty, word);
        operands.source(1 + slot, half)
    };
    let words = 0..N.div_ceil(4);
    let (first, last) = (addresses.first(), addresses.last());
    match addresses.layout {
        Layout::Consecutive => {
            let Some(cells) = addresses.cells::<N, M>(pieces, last + 1 - first) else { return false };
            for word in words {
                let row = source(word);
                if let Some(cells) = cells.first_chunk_mut::<WARP_LANES>().filter(|_| lanes == ALL_LANES) {
                    cells.iter_mut().zip(row.0).for_each(|(cell, value)| put(cell, word, value));
                } else {
                    lanes_of(lanes).for_each(|lane| put(&mut cells[lane - first], word, row.0[lane]));
                }
            }
        }
        Layout::Together => {
            let Some([cell, ..]) = addresses.cells::<N, M>(pieces, 1) else { return false };
            words.for_each(|word| put(cell, word, source(word).0[last]));
        }
        Layout::Apart => {
            let mut places = Row::ZERO;
            let Some(cells) = addresses.places::<N, M>(pieces, &mut places) else { return false };
            if places.0.iter().fold(0, |most, place| most.max(*place)) as usize >= cells.len() {
                return false;
            }
            for word in words {
                let row = source(word);
                lanes_of(lanes).for_each(|lane| put(&mut cells[places.0[lane] as usize], word, row.0[lane]));
            }
        }
    }
    pieces.stores += 1;
    true
}
