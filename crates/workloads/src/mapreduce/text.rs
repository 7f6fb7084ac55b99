//! Texts with the statistics of natural ones: words and pages whose frequencies follow Zipf's law.

use crate::random::Random;

/// Draws ranks from 0 on, rank r in proportion to 1 / (r + 1).
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    /// Sums of the weights up to each rank.
    cumulative: Vec<u64>,
}

impl Zipf {
    pub(crate) fn new(ranks: usize) -> Self {
        let weights = (1..=ranks as u64).scan(0, |sum, r| {
            *sum += (1 << 32) / r;
            Some(*sum)
        });
        Self { cumulative: weights.collect() }
    }

    pub(crate) fn draw(&self, random: &mut Random) -> usize {
        let at = random.below(*self.cumulative.last().expect("there are ranks"));
        self.cumulative.partition_point(|&sum| sum <= at)
    }
}

/// The word of a rank: syllables, a consonant and a vowel each, and at times a last consonant. The more frequent, the
/// shorter, as in natural language; no two ranks have the same.
pub(crate) fn word(rank: usize) -> String {
    const CONSONANTS: &[u8; 16] = b"bcdfghklmnprstvw";
    const VOWELS: &[u8; 5] = b"eaoiu";
    let syllables = CONSONANTS.len() * VOWELS.len();
    let mut word = String::new();
    let mut left = rank / 2 + 1;
    while left > 0 {
        left -= 1;
        let syllable = left % syllables;
        word.push(CONSONANTS[syllable % CONSONANTS.len()].into());
        word.push(VOWELS[syllable / CONSONANTS.len()].into());
        left /= syllables;
    }
    if rank % 2 == 1 {
        word.push(CONSONANTS[rank / 2 % CONSONANTS.len()].into());
    }
    word
}

/// The address of the page of a rank: sites have some sixteen pages each.
pub(crate) fn url(rank: usize) -> String {
    format!("http://www.{}.com/{}.html", word(rank / 16), word(rank))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn words_are_distinct_and_grow_longer() {
        let words: HashSet<String> = (0..20_000).map(word).collect();
        assert_eq!(words.len(), 20_000);
        assert_eq!((word(0).as_str(), word(1).as_str()), ("be", "beb"));
        assert!(word(10_000).len() > word(100).len());
    }

    #[test]
    fn frequencies_follow_zipf() {
        let zipf = Zipf::new(100);
        let mut random = Random::new(1);
        let mut counts = [0; 100];
        (0..100_000).for_each(|_| counts[zipf.draw(&mut random)] += 1);
        // 1 / H(100) = 0.193.
        assert!((18_800..19_800).contains(&counts[0]), "{}", counts[0]);
        assert!((1_750..2_100).contains(&counts[9]), "{}", counts[9]);
        assert!(counts[99] > 0);
    }
}
