//! Bloom filters: sets of blocks that may contain more than was put in, never less.

/// A Bloom filter over block numbers.
#[derive(Clone, Debug)]
pub struct Filter {
    words: Box<[u64]>,
    /// Bits of a position in the filter.
    bits: u32,
    hashes: u32,
}

impl Filter {
    /// An empty filter of `bytes` bytes, a power of two, in which a block sets `hashes` bits.
    pub fn new(bytes: u32, hashes: u32) -> Filter {
        let words = (bytes as usize).div_ceil(8);
        Filter { words: vec![0; words].into(), bits: (8 * bytes).trailing_zeros(), hashes }
    }

    /// Adds a block.
    pub fn insert(&mut self, block: u64) {
        for hash in 0..self.hashes {
            let place = self.place(block, hash);
            self.words[place / 64] |= 1 << (place % 64);
        }
    }

    /// Whether a block may have been added.
    pub fn has(&self, block: u64) -> bool {
        (0..self.hashes).all(|hash| {
            let place = self.place(block, hash);
            self.words[place / 64] >> (place % 64) & 1 == 1
        })
    }

    /// Removes all blocks.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Multiplicative hashing (Knuth, TAOCP 3, 6.4), with an odd multiplier for each function. ASSUMED: the paper names none.
    fn place(&self, block: u64, hash: u32) -> usize {
        let multiplier = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * u64::from(hash) + 1);
        let mixed = (block ^ block >> 17).wrapping_mul(multiplier);
        ((mixed ^ mixed >> 29).wrapping_mul(multiplier) >> (64 - self.bits)) as usize
    }
}
