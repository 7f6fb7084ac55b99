//! A set of small integers.

/// A set of indices below a bound fixed at construction.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// The empty set over `0..bound`.
    pub fn new(bound: usize) -> BitSet {
        BitSet { words: vec![0; bound.div_ceil(64)] }
    }

    /// Adds `index`; true when it was not there.
    #[inline]
    pub fn insert(&mut self, index: usize) -> bool {
        let word = &mut self.words[index >> 6];
        let before = *word;
        *word |= 1 << (index & 63);
        *word != before
    }

    /// Whether `index` is in the set.
    #[inline]
    pub fn contains(&self, index: usize) -> bool {
        self.words[index >> 6] >> (index & 63) & 1 == 1
    }

    /// Adds all of `other`; true when anything was new.
    pub fn union_with(&mut self, other: &BitSet) -> bool {
        let mut changed = false;
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            changed |= *theirs & !*mine != 0;
            *mine |= *theirs;
        }
        changed
    }
}
