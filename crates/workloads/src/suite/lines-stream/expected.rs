//! Each thread's sum.

use super::{BLOCK, Stream};

impl Stream {
    /// Word l of the lines of each warp, in every pass with the pass's number applied to it.
    pub(super) fn expected(&self, words: &[u32]) -> Vec<u32> {
        let warps = (self.ctas * BLOCK / 32) as usize;
        let mut sums = vec![0u32; 32 * warps];
        for (place, word) in words.iter().enumerate() {
            let sum = &mut sums[place / 32 % warps * 32 + place % 32];
            for pass in 0..self.passes {
                *sum = sum.wrapping_add(word ^ pass);
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_in_one_sum() {
        let stream = Stream { ctas: 1, lines: 9, passes: 1 };
        let words: Vec<u32> = (0..288).collect();
        let sums = stream.expected(&words);
        assert_eq!(sums.iter().sum::<u32>(), 287 * 144);
        // Warp 0 has lines 0 and 8.
        assert_eq!((sums[0], sums[1], sums[32]), (256, 258, 32));
    }
}
