//! The bytes of a line, and sets of bytes in a line.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

use bytemuck::Zeroable;

use crate::address::LINE_BYTES;

/// The bytes of one line.
#[derive(Clone, Debug, PartialEq, Eq, Zeroable)]
#[repr(C, align(64))]
pub struct Line(pub [u8; LINE_BYTES]);

impl Line {
    /// A line whose bytes are all zero.
    pub const ZERO: Line = Line([0; LINE_BYTES]);

    /// Lines whose bytes are all zero. The host's memory is taken when a line is first written.
    pub fn zeros(count: usize) -> Vec<Line> {
        bytemuck::zeroed_vec(count)
    }

    /// Copies the bytes that `bytes` selects from `other`.
    #[inline]
    pub fn merge(&mut self, bytes: ByteMask, other: &Line) {
        if bytes == ByteMask::ALL {
            self.0 = other.0;
            return;
        }
        // Four words of 32 bytes; whole ones are copied, mixed ones blended without branches.
        for word in 0..LINE_BYTES / 32 {
            let mask = (bytes.0 >> (32 * word)) as u32;
            let range = 32 * word..32 * word + 32;
            if mask == u32::MAX {
                self.0[range.clone()].copy_from_slice(&other.0[range]);
            } else if mask != 0 {
                let pairs = self.0[range.clone()].iter_mut().zip(&other.0[range]);
                for (byte, (mine, theirs)) in pairs.enumerate() {
                    let take = 0_u8.wrapping_sub((mask >> byte & 1) as u8);
                    *mine = *mine & !take | *theirs & take;
                }
            }
        }
    }
}

/// A set of bytes of a line: bit n is byte n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Zeroable)]
#[repr(transparent)]
pub struct ByteMask(pub u128);

impl ByteMask {
    /// The set that contains no byte.
    pub const NONE: ByteMask = ByteMask(0);
    /// The set of all bytes of a line.
    pub const ALL: ByteMask = ByteMask(u128::MAX);

    /// The set of `length` bytes from offset `start`.
    #[inline]
    pub const fn range(start: usize, length: usize) -> ByteMask {
        // Few ranges are longer than a word of the host, and a shift of two words takes several instructions.
        let bytes = match length {
            0..64 => ((1_u64 << length) - 1) as u128,
            64..LINE_BYTES => (1 << length) - 1,
            _ => u128::MAX,
        };
        ByteMask(bytes << start)
    }

    /// Whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Number of bytes in the set.
    #[inline]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether the set contains all of `other`.
    #[inline]
    pub const fn covers(self, other: ByteMask) -> bool {
        other.0 & !self.0 == 0
    }

    /// Extends the set to whole sectors of `sector_bytes`, a power of two from 1 to 128.
    #[inline]
    pub fn to_sectors(self, sector_bytes: usize) -> ByteMask {
        // The common sizes as constants, for which the loop is a few instructions.
        match sector_bytes {
            LINE_BYTES => self.grown_to(LINE_BYTES),
            32 => self.grown_to(32),
            other => self.grown_to(other),
        }
    }

    #[inline(always)]
    fn grown_to(self, sector_bytes: usize) -> ByteMask {
        let mut grown = 0;
        let sector = ByteMask::range(0, sector_bytes).0;
        let mut start = 0;
        while start < LINE_BYTES {
            if self.0 >> start & sector != 0 {
                grown |= sector << start;
            }
            start += sector_bytes;
        }
        ByteMask(grown)
    }
}

impl BitOr for ByteMask {
    type Output = ByteMask;
    #[inline]
    fn bitor(self, other: ByteMask) -> ByteMask {
        ByteMask(self.0 | other.0)
    }
}

impl BitOrAssign for ByteMask {
    #[inline]
    fn bitor_assign(&mut self, other: ByteMask) {
        self.0 |= other.0;
    }
}

impl BitAnd for ByteMask {
    type Output = ByteMask;
    #[inline]
    fn bitand(self, other: ByteMask) -> ByteMask {
        ByteMask(self.0 & other.0)
    }
}

impl BitAndAssign for ByteMask {
    #[inline]
    fn bitand_assign(&mut self, other: ByteMask) {
        self.0 &= other.0;
    }
}

impl Not for ByteMask {
    type Output = ByteMask;
    #[inline]
    fn not(self) -> ByteMask {
        ByteMask(!self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_sectors() {
        assert_eq!(ByteMask::range(0, 128), ByteMask::ALL);
        assert_eq!(ByteMask::range(4, 4).0, 0xf0);
        assert_eq!(ByteMask::range(30, 4).to_sectors(32), ByteMask::range(0, 64));
        assert_eq!(ByteMask::range(30, 4).to_sectors(128), ByteMask::ALL);
        assert_eq!(ByteMask::NONE.to_sectors(32), ByteMask::NONE);
    }

    #[test]
    fn a_merge_takes_exactly_the_named_bytes() {
        let mut line = Line([1; 128]);
        let other = Line([2; 128]);
        let bytes = ByteMask::range(3, 40) | ByteMask::range(96, 32);
        line.merge(bytes, &other);
        for byte in 0..128 {
            assert_eq!(line.0[byte], if bytes.0 >> byte & 1 == 1 { 2 } else { 1 }, "byte {byte}");
        }
    }
}
