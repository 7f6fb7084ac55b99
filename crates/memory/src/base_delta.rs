//! Base-delta compression: the words of a block as the first word and its differences from the others
//! (Pekhimenko et al., *Base-Delta-Immediate Compression*, PACT 2012; with one base of 4 bytes, as Lee et
//! al., *Warped-Compression*, ISCA 2015).
//!
//! A block of n words becomes the base, in 4 bytes, and n - 1 deltas of one width, both little-endian. 32
//! words take 4, 35 or 66 bytes with deltas of 0, 1 or 2 bytes.

/// Bytes of the base: a block's first word.
pub const BASE_BYTES: usize = 4;

/// Width of a compressed block's deltas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeltaWidth {
    /// No deltas: all words are equal.
    Zero,
    /// Signed deltas of one byte.
    One,
    /// Signed deltas of two bytes.
    Two,
}

impl DeltaWidth {
    /// All widths, narrowest first.
    pub const ALL: [DeltaWidth; 3] = [DeltaWidth::Zero, DeltaWidth::One, DeltaWidth::Two];

    /// Bytes of one delta.
    pub const fn bytes(self) -> usize {
        self as usize
    }

    /// Bytes of a compressed block of `words` words, at least one.
    pub const fn block_bytes(self, words: usize) -> usize {
        BASE_BYTES + (words - 1) * self.bytes()
    }
}

/// The narrowest deltas that express a block, or `None` if its words differ too much. Differences wrap: the
/// distance from `u32::MAX` to 0 is 1.
#[inline]
pub fn narrowest(block: &[u32]) -> Option<DeltaWidth> {
    let base = *block.first()?;
    // Bits in which any difference is set, and bits in which any differs from its sign: both vectorise.
    let (mut set, mut magnitude) = (0, 0);
    for word in block {
        let delta = word.wrapping_sub(base);
        set |= delta;
        magnitude |= delta ^ ((delta as i32) >> 31) as u32;
    }
    match magnitude {
        _ if set == 0 => Some(DeltaWidth::Zero),
        0..0x80 => Some(DeltaWidth::One),
        0x80..0x8000 => Some(DeltaWidth::Two),
        _ => None,
    }
}

/// Writes a block in deltas of the given width to the front of `bytes` and returns the number of bytes.
/// Deltas at least as wide as [`narrowest`] says lose nothing.
///
/// # Panics
/// Panics if the block is empty or `bytes` is shorter than [`DeltaWidth::block_bytes`].
#[inline]
pub fn compress(block: &[u32], width: DeltaWidth, bytes: &mut [u8]) -> usize {
    let base = block[0];
    bytes[..BASE_BYTES].copy_from_slice(&base.to_le_bytes());
    let end = width.block_bytes(block.len());
    let deltas = &mut bytes[BASE_BYTES..end];
    let differences = block[1..].iter().map(|word| word.wrapping_sub(base));
    match width {
        DeltaWidth::Zero => {}
        DeltaWidth::One => {
            deltas.iter_mut().zip(differences).for_each(|(byte, delta)| *byte = delta as u8);
        }
        DeltaWidth::Two => {
            for (pair, delta) in deltas.as_chunks_mut::<2>().0.iter_mut().zip(differences) {
                *pair = (delta as u16).to_le_bytes();
            }
        }
    }
    end
}

/// Reads a block that [`compress`] wrote with the same width.
///
/// # Panics
/// Panics if the block is empty or `bytes` is shorter than [`DeltaWidth::block_bytes`].
#[inline]
pub fn decompress(bytes: &[u8], width: DeltaWidth, block: &mut [u32]) {
    let base = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let deltas = &bytes[BASE_BYTES..width.block_bytes(block.len())];
    block[0] = base;
    let words = block[1..].iter_mut();
    match width {
        DeltaWidth::Zero => words.for_each(|word| *word = base),
        DeltaWidth::One => {
            words.zip(deltas).for_each(|(word, delta)| *word = base.wrapping_add(*delta as i8 as u32));
        }
        DeltaWidth::Two => {
            for (word, delta) in words.zip(deltas.as_chunks::<2>().0) {
                *word = base.wrapping_add(i16::from_le_bytes(*delta) as u32);
            }
        }
    }
}

#[cfg(test)]
mod tests;
