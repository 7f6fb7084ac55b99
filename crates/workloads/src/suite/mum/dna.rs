//! A genome with repeats, and reads from both of its strands with errors.

use crate::random::Random;

/// One letter in so many is read at random.
const ERRORS: u64 = 64;
/// So many pieces are new for one that repeats another.
const FRESH: u64 = 4;

/// A letter as often as in Bacillus anthracis, 35 % of whose letters are C or G.
fn letter(random: &mut Random) -> u8 {
    match random.below(200) {
        0..65 => b'A',
        65..130 => b'T',
        130..165 => b'C',
        _ => b'G',
    }
}

/// The letter that pairs with it.
fn opposite(letter: u8) -> u8 {
    match letter {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        _ => b'A',
    }
}

/// The opposite strand, read in its own direction.
pub(super) fn opposite_strand(letters: &[u8]) -> Vec<u8> {
    letters.iter().rev().map(|&letter| opposite(letter)).collect()
}

/// A genome in pieces of 50 to 500 letters; a fifth of them repeat an earlier place, one letter in 20 changed.
pub(super) fn genome(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut genome = Vec::with_capacity(length);
    while genome.len() < length {
        let piece = (50 + random.below(451) as usize).min(length - genome.len());
        if random.below(FRESH + 1) > 0 || genome.len() <= piece {
            genome.extend((0..piece).map(|_| letter(&mut random)));
        } else {
            let from = random.below((genome.len() - piece) as u64) as usize;
            for at in from..from + piece {
                let changed = letter(&mut random);
                genome.push(if random.below(20) == 0 { changed } else { genome[at] });
            }
        }
    }
    genome
}

/// Reads from anywhere in the genome and either strand.
pub(super) fn reads(genome: &[u8], count: usize, length: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed);
    let mut read = || {
        let from = random.below((genome.len() - length + 1) as u64) as usize;
        let mut read = genome[from..from + length].to_vec();
        if random.bits() & 1 == 0 {
            read = opposite_strand(&read);
        }
        for at in &mut read {
            if random.below(ERRORS) == 0 {
                *at = letter(&mut random);
            }
        }
        read
    };
    (0..count).map(|_| read()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strands_are_opposite() {
        assert_eq!(opposite_strand(b"AACGT"), b"ACGTT");
    }

    #[test]
    fn a_genome_repeats_itself() {
        let genome = genome(20_000, 1);
        assert_eq!(genome.len(), 20_000);
        let mut words: Vec<&[u8]> = genome.windows(16).collect();
        words.sort_unstable();
        let twice = words.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!((500..5000).contains(&twice), "{twice}");
    }

    #[test]
    fn most_reads_occur_on_one_strand_or_the_other() {
        let genome = genome(2000, 2);
        let reads = reads(&genome, 200, 25, 3);
        let occurs = |read: &[u8]| genome.windows(25).any(|word| word == read);
        let found = reads.iter().filter(|read| occurs(read) || occurs(&opposite_strand(read))).count();
        assert!((120..180).contains(&found), "{found}");
    }
}
