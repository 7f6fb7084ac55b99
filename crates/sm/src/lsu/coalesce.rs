//! Coalescing: which lanes of a warp instruction share an access.
//!
//! Accesses are formed one at a time, as in hardware: the lowest remaining lane selects a segment (an aligned part of
//! a line), and every remaining lane in that segment joins the access. Accesses are therefore ordered by their lowest
//! lanes.

use strata_memory::{Address, ByteMask, LINE_BYTES, LineAddress};
use strata_ptx::lanes::{LaneMask, WARP_LANES, lanes_of};

/// The lanes that share one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The line that the access reads or writes.
    pub line: LineAddress,
    /// Bytes of the line that the lanes touch.
    pub bytes: ByteMask,
    /// Mask of the lanes.
    pub lanes: LaneMask,
}

/// Address pattern across the lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All lanes are active, and lane n's address is lane 0's plus n times the width.
    Consecutive,
    /// All lanes have the same address.
    Uniform,
    /// All lanes are active, and neighbours are the same distance apart, a line or more: no two share an access.
    Strided,
    /// No pattern that the coalescer has a fast path for.
    Any,
}

/// Classifies the addresses of a warp's accesses of `width` bytes, a power of two. Inactive lanes must repeat an active
/// lane's address.
#[inline]
pub fn shape(addresses: &[u64; WARP_LANES], lanes: LaneMask, width: u64) -> Shape {
    let stride = addresses[1].wrapping_sub(addresses[0]);
    let mut bend = addresses[2] ^ addresses[1].wrapping_add(stride);
    bend |= addresses[3] ^ addresses[2].wrapping_add(stride);
    // Each of the others against the lane four before it: whole vectors of the host.
    let four = stride.wrapping_mul(4);
    for lane in 4..WARP_LANES {
        bend |= addresses[lane] ^ addresses[lane - 4].wrapping_add(four);
    }
    if bend == 0 { shape_of_stride(stride.cast_signed(), lanes, width) } else { Shape::Any }
}

/// The class of addresses that lie `stride` bytes apart from lane to lane.
#[inline]
pub fn shape_of_stride(stride: i64, lanes: LaneMask, width: u64) -> Shape {
    if stride == 0 {
        Shape::Uniform
    } else if lanes != LaneMask::MAX {
        Shape::Any
    } else if stride.cast_unsigned() == width {
        Shape::Consecutive
    } else if stride.unsigned_abs() >= LINE_BYTES as u64 {
        Shape::Strided
    } else {
        Shape::Any
    }
}

/// The next access of strided lanes ([`Shape::Strided`]): that of the lowest lane.
#[inline(always)]
pub fn next_of_strided(addresses: &[u64; WARP_LANES], left: LaneMask, width: usize) -> Group {
    let address = addresses[left.trailing_zeros() as usize % WARP_LANES];
    uniform_group(address, left & left.wrapping_neg(), width)
}

/// The access of all lanes in `left`, which share one address.
#[inline(always)]
pub fn uniform_group(address: u64, left: LaneMask, width: usize) -> Group {
    let address = Address(address);
    Group { line: address.line(), bytes: ByteMask::range(address.offset(), width), lanes: left }
}

/// Whether the access of all consecutive lanes from an address on is a whole line, in one segment.
#[inline(always)]
pub fn is_line(first: u64, left: LaneMask, width: usize, segment_bytes: usize) -> bool {
    left == LaneMask::MAX
        && width * WARP_LANES == LINE_BYTES
        && Address(first).offset() == 0
        && segment_bytes == LINE_BYTES
}

/// The next access of consecutive lanes ([`Shape::Consecutive`]). `left` must be a contiguous run of lanes that ends
/// at lane 31.
#[inline]
pub fn next_of_consecutive(
    addresses: &[u64; WARP_LANES],
    left: LaneMask,
    width: usize,
    segment_bytes: usize,
) -> Group {
    let first = left.trailing_zeros();
    let address = Address(addresses[first as usize]);
    let room = segment_bytes - address.offset() % segment_bytes;
    let count = (room / width).min(WARP_LANES - first as usize);
    let lanes = (u64::from(u32::MAX) >> (WARP_LANES - count) << first) as LaneMask;
    Group { line: address.line(), bytes: ByteMask::range(address.offset(), count * width), lanes }
}

/// The next access for arbitrary addresses, each a multiple of `width`. Lanes outside `left` are ignored.
#[inline]
pub fn next_group(
    addresses: &[u64; WARP_LANES],
    left: LaneMask,
    width: usize,
    segment_bytes: usize,
) -> Group {
    let address = addresses[left.trailing_zeros() as usize];
    let segment = !(segment_bytes as u64 - 1);
    let mut flags = [0u32; WARP_LANES];
    for lane in 0..WARP_LANES {
        flags[lane] = u32::from((addresses[lane] ^ address) & segment == 0) << lane;
    }
    let lanes = flags.iter().fold(0, |mask, flag| mask | flag) & left;
    Group { line: Address(address).line(), bytes: touched(addresses, lanes, width), lanes }
}

/// The bytes of their common line that `lanes` touch: `width` bytes each, at a multiple of `width`.
#[inline]
fn touched(addresses: &[u64; WARP_LANES], lanes: LaneMask, width: usize) -> ByteMask {
    if lanes.is_power_of_two() {
        return ByteMask::range(addresses[lanes.trailing_zeros() as usize] as usize % LINE_BYTES, width);
    }
    if width < 4 {
        return lanes_of(lanes).fold(ByteMask::NONE, |bytes, lane| {
            bytes | ByteMask::range(addresses[lane] as usize % LINE_BYTES, width)
        });
    }
    let words = ((1u64 << (width / 4)) - 1) as u32;
    let mut each = [0u32; WARP_LANES];
    for lane in 0..WARP_LANES {
        let keep = (lanes >> lane & 1).wrapping_neg();
        each[lane] = words << (addresses[lane] as u32 / 4 % 32) & keep;
    }
    words_to_bytes(each.iter().fold(0, |mask, words| mask | words))
}

/// Expands a word mask into a byte mask: bit n becomes bits 4n to 4n + 3.
#[inline]
const fn words_to_bytes(words: u32) -> ByteMask {
    const fn spread(half: u64) -> u64 {
        let x = (half | half << 24) & 0x0000_00ff_0000_00ff;
        let x = (x | x << 12) & 0x000f_000f_000f_000f;
        let x = (x | x << 6) & 0x0303_0303_0303_0303;
        let x = (x | x << 3) & 0x1111_1111_1111_1111;
        x * 15
    }
    ByteMask((spread((words >> 16) as u64) as u128) << 64 | spread((words & 0xffff) as u64) as u128)
}
