//! How many bursts move the bytes of a request: one for each atom that holds some of them.

use crate::address::LINE_BYTES;
use crate::line::ByteMask;

/// The atoms of a line: what one burst moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Atoms {
    bytes: usize,
    /// The first byte of each.
    firsts: u128,
}

impl Atoms {
    /// Atoms of `bytes` bytes, a power of two.
    pub fn new(bytes: usize) -> Atoms {
        Atoms { bytes, firsts: u128::MAX / (u128::MAX >> (LINE_BYTES - bytes)) }
    }

    /// Bytes of an atom.
    #[inline]
    pub fn bytes(self) -> u64 {
        self.bytes as u64
    }

    /// How many hold some of these bytes.
    #[inline]
    pub fn holding(self, bytes: ByteMask) -> u8 {
        match self.bytes {
            64 => [0, 64].map(|first| u8::from((bytes.0 >> first) as u64 != 0)).iter().sum(),
            32 => [0, 32, 64, 96].map(|first| u8::from((bytes.0 >> first) as u32 != 0)).iter().sum(),
            _ => self.holding_others(bytes),
        }
    }

    /// Every byte's bit moves down into the first of its atom, together with its neighbours'.
    #[inline(never)]
    fn holding_others(self, bytes: ByteMask) -> u8 {
        let mut firsts = bytes.0;
        let mut folded = 1;
        while folded < self.bytes {
            firsts |= firsts >> folded;
            folded *= 2;
        }
        (firsts & self.firsts).count_ones() as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_cover_the_bytes() {
        let mut random = strata_engine::seed::Stream::new(3, "bursts");
        for atom in [1, 2, 4, 8, 16, 32, 64, 128] {
            for round in 0..200 {
                let bytes = ByteMask((0..round % 5).fold(0, |bytes, _| bytes | 1u128 << random.below(128)));
                let expected = bytes.to_sectors(atom).count() / atom as u32;
                assert_eq!(
                    u32::from(Atoms::new(atom).holding(bytes)),
                    expected,
                    "{:#x} in atoms of {atom}",
                    bytes.0
                );
            }
        }
    }
}
