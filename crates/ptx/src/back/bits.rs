//! A growable set of small integers: the currency of the dataflow analyses.

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

    /// Takes `index` out.
    #[inline]
    pub fn remove(&mut self, index: usize) {
        self.words[index >> 6] &= !(1 << (index & 63));
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

    /// Adds what is in `other` but not in `except`, and keeps within `within`; true when anything was new.
    pub fn union_masked(&mut self, other: &BitSet, except: &BitSet, within: &BitSet) -> bool {
        let mut changed = false;
        for (word, mine) in self.words.iter_mut().enumerate() {
            let new = other.words[word] & !except.words[word] & within.words[word] & !*mine;
            changed |= new != 0;
            *mine |= new;
        }
        changed
    }

    /// Removes all of `other`.
    pub fn subtract(&mut self, other: &BitSet) {
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine &= !theirs;
        }
    }

    /// Keeps only what is in `other` too.
    pub fn intersect_with(&mut self, other: &BitSet) {
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine &= theirs;
        }
    }

    /// The members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(word, bits)| {
            let mut bits = *bits;
            std::iter::from_fn(move || {
                if bits == 0 {
                    return None;
                }
                let bit = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                Some(word << 6 | bit)
            })
        })
    }
}
