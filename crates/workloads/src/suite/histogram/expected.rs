//! The counts, byte by byte.

use super::BINS;

pub(super) fn expected(data: &[u32]) -> Vec<u32> {
    let mut bins = vec![0; BINS];
    for byte in data.iter().flat_map(|word| word.to_le_bytes()) {
        bins[usize::from(byte)] += 1;
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_word_counts() {
        let bins = expected(&[0xff00_0201, 0x0100_0000]);
        assert_eq!((bins[0], bins[1], bins[2], bins[255]), (4, 2, 1, 1));
    }
}
