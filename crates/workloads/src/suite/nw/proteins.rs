//! Two proteins of one family.

use super::blosum::AMINO_ACIDS;
use crate::random::Random;

/// Two sequences of equal length; each residue is an index into [`AMINO_ACIDS`].
#[derive(Debug)]
pub(super) struct Proteins {
    pub(super) first: Vec<usize>,
    pub(super) second: Vec<usize>,
}

impl Proteins {
    /// The second is the first with three residues in ten replaced and, now and then, some lost or put in, so
    /// that the best alignment runs near the diagonal and has gaps.
    pub(super) fn related(length: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let residue = |random: &mut Random| random.below(AMINO_ACIDS.len() as u64) as usize;
        let first: Vec<usize> = (0..length).map(|_| residue(&mut random)).collect();
        let mut second = Vec::with_capacity(length);
        let mut from = 0;
        while second.len() < length {
            match random.below(100) {
                0 => from += 1 + random.below(4) as usize,
                1 => (0..=random.below(4)).for_each(|_| second.push(residue(&mut random))),
                2..32 => {
                    second.push(residue(&mut random));
                    from += 1;
                }
                _ => {
                    // Residues lost from the first's end leave the second to begin it again.
                    second.push(first[from % length]);
                    from += 1;
                }
            }
        }
        second.truncate(length);
        Self { first, second }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_begins_much_like_the_first() {
        let Proteins { first, second } = Proteins::related(1000, 1);
        assert_eq!((first.len(), second.len()), (1000, 1000));
        // Somewhere within a few residues of its place in the first.
        let alike = (8..992)
            .filter(|&i| first[i - 8..i + 8].windows(2).any(|pair| pair == &second[i..i + 2]))
            .count();
        assert!(alike > 400, "{alike}");
    }
}
