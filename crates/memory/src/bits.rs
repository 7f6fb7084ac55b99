//! Sets of small numbers, kept as bit masks.

/// Iterates over the numbers of the set bits in a mask, lowest first.
#[inline]
pub fn members(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            lowest
        })
    })
}

/// A set of numbers below a fixed bound.
#[derive(Clone, Debug)]
pub struct Set(Vec<u64>);

impl Set {
    /// Makes an empty set for numbers below `bound`.
    pub fn new(bound: usize) -> Set {
        Set(vec![0; bound.div_ceil(64)])
    }

    /// Adds a number below the bound.
    #[inline]
    pub fn insert(&mut self, member: usize) {
        self.0[member / 64] |= 1 << (member % 64);
    }

    /// Removes a number from the set.
    #[inline]
    pub fn remove(&mut self, member: usize) {
        self.0[member / 64] &= !(1 << (member % 64));
    }

    /// Whether the set contains a number.
    #[inline]
    pub fn contains(&self, member: usize) -> bool {
        self.0[member / 64] >> (member % 64) & 1 == 1
    }

    /// The members from `first` to `first + count - 1`, as a mask whose bit 0 is `first`; `count` is 1 to 64.
    #[inline]
    pub fn range(&self, first: usize, count: usize) -> u64 {
        let (word, bit) = (first / 64, first % 64);
        let mut bits = self.0[word] >> bit;
        if bit + count > 64 {
            bits |= self.0[word + 1] << (64 - bit);
        }
        bits & u64::MAX >> (64 - count)
    }

    /// Whether the set has no member.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The least member that is at least `from`.
    #[inline]
    pub fn next(&self, from: usize) -> Option<usize> {
        let mut mask = u64::MAX << (from % 64);
        for word in from / 64..self.0.len() {
            let bits = self.0[word] & mask;
            if bits != 0 {
                return Some(64 * word + bits.trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        None
    }

    /// The least number at least `from` that is a member of both sets, which have the same bound.
    #[inline]
    pub fn next_common(&self, other: &Set, from: usize) -> Option<usize> {
        let mut mask = u64::MAX << (from % 64);
        for word in from / 64..self.0.len() {
            let bits = self.0[word] & other.0[word] & mask;
            if bits != 0 {
                return Some(64 * word + bits.trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        None
    }

    /// Makes room for numbers below a larger bound.
    pub fn grow(&mut self, bound: usize) {
        self.0.resize(bound.div_ceil(64), 0);
    }

    /// Number of 64-bit words, for loops that change the set while they go through it word by word.
    #[inline]
    pub fn words(&self) -> usize {
        self.0.len()
    }

    /// Iterates over the members that a word holds at the time of the call, lowest first.
    #[inline]
    pub fn members_of_word(&self, word: usize) -> impl Iterator<Item = usize> + use<> {
        members(self.0[word]).map(move |bit| 64 * word + bit)
    }

    /// Takes the members out that a word holds, lowest first.
    #[inline]
    pub fn take_word(&mut self, word: usize) -> impl Iterator<Item = usize> + use<> {
        members(std::mem::take(&mut self.0[word])).map(move |bit| 64 * word + bit)
    }

    /// Iterates over the members, lowest first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len()).flat_map(|word| self.members_of_word(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_order() {
        let mut set = Set::new(200);
        for member in [199, 0, 64, 63, 128] {
            set.insert(member);
        }
        set.remove(64);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 128, 199]);
        assert_eq!((set.contains(63), set.contains(64)), (true, false));
        assert_eq!((set.range(0, 64), set.range(126, 5), set.range(136, 64)), (1 << 63 | 1, 0b100, 1 << 63));
        assert_eq!(members(0).count(), 0);
        assert_eq!(
            [0, 1, 64, 129, 199, 200, 999].map(|from| set.next(from)),
            [Some(0), Some(63), Some(128), Some(199), Some(199), None, None]
        );
        let mut other = Set::new(200);
        [0, 100, 128, 198].into_iter().for_each(|member| other.insert(member));
        assert_eq!(
            [0, 1, 128, 129, 200].map(|from| set.next_common(&other, from)),
            [Some(0), Some(128), Some(128), None, None]
        );
        assert_eq!((set.take_word(0).collect::<Vec<_>>(), set.iter().next()), (vec![0, 63], Some(128)));
    }
}
