//! The NVM-CBF: counting Bloom filters side by side, all tested at once (IV-C, Fig. 12).
//!
//! Rows are the slots of the counter arrays, columns the filters. A test activates the rows of the line's keys and
//! senses, for every filter, whether all of their counters are above zero: here the AND of a few bit rows.

use strata_memory::LineAddress;

/// Odd multipliers of the hash functions, which the paper does not give. ASSUMED: multiplicative hashing, bits of
/// the golden ratio and of other irrational numbers, so that the keys of a line are independent.
const MULTIPLIERS: [u64; MAX_HASHES] = [
    0x9e37_79b9_7f4a_7c15,
    0xc2b2_ae3d_27d4_eb4f,
    0x1656_67b1_9e37_79f9,
    0xd6e8_feb8_6659_fd93,
    0xa076_1d64_78bd_642f,
    0xe703_7ed1_a0b4_28db,
    0x8ebc_6af0_9c88_c6e3,
    0x5899_65cc_7537_4cc3,
];

/// The largest number of hash functions.
pub(super) const MAX_HASHES: usize = 8;

/// The parameters of the filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CbfShape {
    pub filters: usize,
    pub slots: usize,
    pub hashes: usize,
    /// Largest value of a counter.
    pub limit: u8,
}

/// The array of counting Bloom filters.
#[derive(Clone, Debug)]
pub(super) struct NvmCbf {
    shape: CbfShape,
    /// Number of words in a bit row.
    words: usize,
    /// Counter of slot s in filter f: `s * filters + f`.
    counters: Vec<u8>,
    /// Bit f of row s: that counter is above zero.
    above_zero: Vec<u64>,
}

impl NvmCbf {
    pub fn new(shape: CbfShape) -> NvmCbf {
        let words = shape.filters.div_ceil(64);
        NvmCbf {
            shape,
            words,
            counters: vec![0; shape.slots * shape.filters],
            above_zero: vec![0; shape.slots * words],
        }
    }

    /// Number of filters in the array.
    pub fn count(&self) -> usize {
        self.shape.filters
    }

    /// Empties all filters, as at the start.
    pub fn clear(&mut self) {
        self.counters.fill(0);
        self.above_zero.fill(0);
    }

    /// The slot of a line's `n`th key.
    #[inline]
    fn slot(&self, line: LineAddress, n: usize) -> usize {
        let mixed = (line.0 ^ line.0 >> 17).wrapping_mul(MULTIPLIERS[n]);
        // The upper half, scaled to the slots: any number of them will do.
        (((mixed >> 32) * self.shape.slots as u64) >> 32) as usize
    }

    /// The keys of a line, each slot once.
    #[inline]
    fn keys(&self, line: LineAddress) -> impl Iterator<Item = usize> + use<> {
        let mut slots = [usize::MAX; MAX_HASHES];
        for n in 0..self.shape.hashes {
            let slot = self.slot(line, n);
            if !slots[..n].contains(&slot) {
                slots[n] = slot;
            }
        }
        slots.into_iter().filter(|slot| *slot != usize::MAX)
    }

    /// *Increment*: adds a line to a filter's set (Fig. 12a).
    #[inline]
    pub fn increment(&mut self, filter: usize, line: LineAddress) {
        for slot in self.keys(line) {
            let counter = &mut self.counters[slot * self.shape.filters + filter];
            *counter = (*counter + 1).min(self.shape.limit);
            self.above_zero[slot * self.words + filter / 64] |= 1 << (filter % 64);
        }
    }

    /// *Decrement*: removes a line from a filter's set (Fig. 12b). A counter at its limit may have lost count
    /// and therefore stays: if it were decremented, a line that is there could be missed.
    #[inline]
    pub fn decrement(&mut self, filter: usize, line: LineAddress) {
        for slot in self.keys(line) {
            let counter = &mut self.counters[slot * self.shape.filters + filter];
            debug_assert!(*counter > 0, "a line that leaves a filter was counted in it");
            if *counter < self.shape.limit {
                *counter -= 1;
                if *counter == 0 {
                    self.above_zero[slot * self.words + filter / 64] &= !(1 << (filter % 64));
                }
            }
        }
    }

    /// Empties one filter, whose column is then rewritten.
    pub fn clear_filter(&mut self, filter: usize) {
        for slot in 0..self.shape.slots {
            self.counters[slot * self.shape.filters + filter] = 0;
            self.above_zero[slot * self.words + filter / 64] &= !(1 << (filter % 64));
        }
    }

    /// Whether one of the line's counters in the filter is at its limit.
    #[inline]
    pub fn is_saturated(&self, filter: usize, line: LineAddress) -> bool {
        self.keys(line).any(|slot| self.counters[slot * self.shape.filters + filter] == self.shape.limit)
    }

    /// *Test* (Fig. 12c) of all filters: calls `word` with the answers of 64 filters at a time, lowest first.
    #[inline]
    pub fn test(&self, line: LineAddress, mut word: impl FnMut(usize, u64)) {
        let mut rows = [0_usize; MAX_HASHES];
        for (n, row) in rows.iter_mut().enumerate().take(self.shape.hashes) {
            *row = self.slot(line, n) * self.words;
        }
        for place in 0..self.words {
            let mut positive = u64::MAX;
            for row in &rows[..self.shape.hashes] {
                positive &= self.above_zero[row + place];
            }
            word(place, positive);
        }
    }
}
