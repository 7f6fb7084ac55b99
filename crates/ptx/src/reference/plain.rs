//! Plain loads and stores: all bytes of an access lie in one allocation or in the CTA's own shared memory, and nobody
//! watches.
//!
//! Whatever else an access may be (misaligned, out of bounds, in several allocations, of another CTA's memory or a mapping)
//! is left untouched to [`access`](super::access), which finds what is wrong with it.

use super::global::GlobalMemory;
use super::warp::WarpOperands;
use crate::exec::Operands;
use crate::exec::memory::{CTA_SHARED_BITS, extend};
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
pub(super) type Plain = fn(&Instruction, &mut WarpOperands<'_>, LaneMask, &mut Pieces<'_>) -> bool;

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

    /// The bytes at an address, if one piece of memory holds them all.
    fn bytes<'a>(pieces: &'a mut Pieces<'_>, address: u64, bytes: u64) -> Option<&'a mut [u8]>;
}

/// Device memory. No allocation lies in a window, so generic addresses in one of them are those of device memory.
struct Global;

impl Memory for Global {
    const WIDE: bool = true;

    #[inline(always)]
    fn bytes<'a>(pieces: &'a mut Pieces<'_>, address: u64, bytes: u64) -> Option<&'a mut [u8]> {
        let allocation = pieces.global.containing(address)?;
        let start = (address - allocation.base) as usize;
        allocation.bytes.get_mut(start..start.checked_add(bytes as usize)?)
    }
}

/// The CTA's shared memory.
struct Shared;

impl Memory for Shared {
    const WIDE: bool = false;

    #[inline(always)]
    fn bytes<'a>(pieces: &'a mut Pieces<'_>, address: u64, bytes: u64) -> Option<&'a mut [u8]> {
        // Beyond this an address names a CTA of the cluster.
        let end = address.checked_add(bytes).filter(|end| *end <= 1 << CTA_SHARED_BITS)?;
        pieces.shared.get_mut(address as usize..end as usize)
    }
}

/// The addresses of an access: those of its lanes lie `base` above the low words.
struct Addresses<'a> {
    low: &'a Row,
    base: u64,
    lanes: LaneMask,
}

impl Addresses<'_> {
    /// The lowest active lane.
    #[inline(always)]
    fn first(&self) -> usize {
        self.lanes.trailing_zeros() as usize % WARP_LANES
    }

    /// The highest active lane.
    #[inline(always)]
    fn last(&self) -> usize {
        (31 - self.lanes.leading_zeros() as usize) % WARP_LANES
    }

    /// The bytes from an active lane's on: of so many cells, if they lie in one piece of memory and no low word exceeds 32 bits.
    #[inline(always)]
    fn cells<'a, const N: usize, M: Memory>(
        &self,
        pieces: &'a mut Pieces<'_>,
        low: u32,
        count: u64,
    ) -> Option<&'a mut [[u8; N]]> {
        let address = self.base.wrapping_add(u64::from(low));
        let bytes = N as u64 * count;
        if address % N as u64 != 0 || u64::from(low) + bytes > 1 << 32 {
            return None;
        }
        Some(M::bytes(pieces, address, bytes)?.as_chunks_mut().0)
    }

    /// Where lanes lie apart: the cells from the lowest to the highest, and each lane's among them. Inactive lanes have that
    /// of the first active one.
    #[inline(always)]
    fn apart<'a, const N: usize, M: Memory>(
        &self,
        pieces: &'a mut Pieces<'_>,
        places: &mut Row,
    ) -> Option<&'a mut [[u8; N]]> {
        let own = self.low.0[self.first()];
        *places = Row::splat(own);
        places.merge(self.lanes, self.low);
        let (mut lowest, mut highest, mut bits) = (own, own, 0);
        for value in places.0 {
            lowest = lowest.min(value);
            highest = highest.max(value);
            bits |= value ^ own;
        }
        if bits % N as u32 != 0 {
            return None;
        }
        for place in &mut places.0 {
            *place = (*place - lowest) / N as u32;
        }
        self.cells::<N, M>(pieces, lowest, u64::from((highest - lowest) / N as u32) + 1)
    }
}

/// How the lanes of an access lie.
enum Layout {
    /// Lane after lane.
    Consecutive,
    /// All at one address.
    Together,
    Apart,
}

/// The addresses of an access and how they lie; `None` when they lie too far apart.
#[inline(always)]
fn look<'a, const N: usize, M: Memory>(
    instruction: &Instruction,
    operands: &'a WarpOperands<'_>,
    lanes: LaneMask,
) -> Option<(Addresses<'a>, Layout)> {
    let low = operands.source(0, 0);
    let high = operands.source(0, usize::from(M::WIDE));
    let mut addresses = Addresses { low, base: instruction.offset as u64, lanes };
    let first = addresses.first();
    let (own, own_high, step) = (low.0[first], high.0[first], N as u32);
    if M::WIDE {
        addresses.base = addresses.base.wrapping_add(u64::from(own_high) << 32);
    }
    let start = own.wrapping_sub(step * first as u32);
    let others = |found: LaneMask| lanes & !found;
    let is_same = |lane: usize| !M::WIDE || high.0[lane] == own_high;
    let layout = if others(mask_of(|lane| {
        low.0[lane].wrapping_sub(step * lane as u32) == start && is_same(lane)
    })) == 0
    {
        Layout::Consecutive
    } else if others(mask_of(|lane| low.0[lane] == own && is_same(lane))) == 0 {
        Layout::Together
    } else if others(mask_of(is_same)) == 0 {
        Layout::Apart
    } else {
        return None;
    };
    Some((addresses, layout))
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
    operands: &mut WarpOperands<'_>,
    lanes: LaneMask,
    pieces: &mut Pieces<'_>,
) -> bool {
    let Some((addresses, layout)) = look::<N, M>(instruction, operands, lanes) else { return false };
    let (first, last) = (addresses.first(), addresses.last());
    let own = addresses.low.0[first];
    match layout {
        Layout::Consecutive => {
            let count = last + 1 - first;
            let Some(cells) = addresses.cells::<N, M>(pieces, own, count as u64) else { return false };
            if let Some(cells) = cells.first_chunk::<WARP_LANES>() {
                write::<N>(instruction, operands, lanes, |lane, word| word_of(&cells[lane], word));
            } else {
                write::<N>(instruction, operands, lanes, |lane, word| {
                    cells.get(lane.wrapping_sub(first)).map_or(0, |cell| word_of::<N>(cell, word))
                });
            }
        }
        Layout::Together => {
            let Some([cell, ..]) = addresses.cells::<N, M>(pieces, own, 1) else { return false };
            write::<N>(instruction, operands, lanes, |_, word| word_of::<N>(cell, word));
        }
        Layout::Apart => {
            let mut places = Row::ZERO;
            let Some(cells) = addresses.apart::<N, M>(pieces, &mut places) else { return false };
            write::<N>(instruction, operands, lanes, |lane, word| {
                word_of::<N>(&cells[places.0[lane] as usize], word)
            });
        }
    }
    true
}

/// Writes what lanes have loaded, given by lane and word.
#[inline(always)]
fn write<const N: usize>(
    instruction: &Instruction,
    operands: &mut WarpOperands<'_>,
    lanes: LaneMask,
    value: impl Fn(usize, usize) -> u32,
) {
    let ty = mode_of(instruction).ty;
    for word in 0..N.div_ceil(4) {
        let mut row = Row::ZERO;
        for lane in 0..WARP_LANES {
            row.0[lane] = value(lane, word);
        }
        if N < 4 {
            for value in &mut row.0 {
                *value = extend(ty, *value);
            }
        }
        let (slot, half) = home(ty, word);
        operands.write(slot, half, lanes, &row);
    }
}

/// `st` of `N` bytes a lane. Where lanes write the same bytes, the highest lane wins.
fn store<const N: usize, M: Memory>(
    instruction: &Instruction,
    operands: &mut WarpOperands<'_>,
    lanes: LaneMask,
    pieces: &mut Pieces<'_>,
) -> bool {
    let Some((addresses, layout)) = look::<N, M>(instruction, operands, lanes) else { return false };
    let (first, last) = (addresses.first(), addresses.last());
    let own = addresses.low.0[first];
    let ty = mode_of(instruction).ty;
    let source = |word: usize| {
        let (slot, half) = home(ty, word);
        operands.source(1 + slot, half)
    };
    match layout {
        Layout::Consecutive => {
            let count = last + 1 - first;
            let Some(cells) = addresses.cells::<N, M>(pieces, own, count as u64) else { return false };
            for word in 0..N.div_ceil(4) {
                let row = source(word);
                if lanes == ALL_LANES {
                    cells.iter_mut().zip(row.0).for_each(|(cell, value)| put(cell, word, value));
                } else {
                    lanes_of(lanes).for_each(|lane| put(&mut cells[lane - first], word, row.0[lane]));
                }
            }
        }
        Layout::Together => {
            let Some([cell, ..]) = addresses.cells::<N, M>(pieces, own, 1) else { return false };
            (0..N.div_ceil(4)).for_each(|word| put::<N>(cell, word, source(word).0[last]));
        }
        Layout::Apart => {
            let mut places = Row::ZERO;
            let Some(cells) = addresses.apart::<N, M>(pieces, &mut places) else { return false };
            for word in 0..N.div_ceil(4) {
                let row = source(word);
                for lane in lanes_of(lanes) {
                    put::<N>(&mut cells[places.0[lane] as usize], word, row.0[lane]);
                }
            }
        }
    }
    pieces.stores += 1;
    true
}
