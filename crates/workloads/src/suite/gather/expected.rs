//! The sums, word by word.

use super::Gather;

/// The kernel's hash.
fn scatter(z: u32) -> u32 {
    let z = (z ^ (z >> 16)).wrapping_mul(0x7feb_352d);
    let z = (z ^ (z >> 15)).wrapping_mul(0x846c_a68b);
    z ^ (z >> 16)
}

impl Gather {
    pub(super) fn expected(&self, table: &[u32]) -> Vec<u32> {
        let word = |number: u32| table[(scatter(number) & (self.table_words - 1)) as usize];
        let sum = |thread: u32| {
            (0..self.loads).fold(0_u32, |sum, k| sum.wrapping_add(word(k * self.threads + thread)))
        };
        (0..self.threads).map(sum).collect()
    }
}
