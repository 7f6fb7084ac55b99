//! A slab: fixed-capacity storage whose entries have small, reusable indices.

/// Entries of one type, each named by the index that [`Slab::insert`] returned. Insertion uses the lowest
/// free index, so indices do not depend on the order of removal.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    entries: Vec<Option<T>>,
    /// Bit n of word w is set if entry 64 w + n is free.
    free: Vec<u64>,
    /// No word before this one has a free entry.
    lowest: usize,
    len: usize,
    capacity: usize,
}

impl<T> Slab<T> {
    /// An empty slab for `capacity` entries. Reserves their memory now and touches it on first use.
    pub fn new(capacity: usize) -> Self {
        let mut free = vec![u64::MAX; capacity.div_ceil(64)];
        if !capacity.is_multiple_of(64)
            && let Some(last) = free.last_mut()
        {
            *last = (1 << (capacity % 64)) - 1;
        }
        Slab { entries: Vec::with_capacity(capacity), free, lowest: 0, len: 0, capacity }
    }

    /// Stores an entry and returns its index.
    ///
    /// # Errors
    /// The entry, if the slab is full.
    #[inline]
    pub fn insert(&mut self, entry: T) -> Result<u32, T> {
        while let Some(bits) = self.free.get_mut(self.lowest) {
            if *bits == 0 {
                self.lowest += 1;
                continue;
            }
            let index = 64 * self.lowest + bits.trailing_zeros() as usize;
            *bits &= *bits - 1;
            // The lowest free index is at most one past the highest index ever used.
            match self.entries.get_mut(index) {
                Some(place) => *place = Some(entry),
                None => self.entries.push(Some(entry)),
            }
            self.len += 1;
            return Ok(index as u32);
        }
        Err(entry)
    }

    /// Removes and returns an entry.
    ///
    /// # Panics
    /// If the index holds no entry.
    #[inline]
    pub fn remove(&mut self, index: u32) -> T {
        let entry = self.entries[index as usize].take().expect("a slab entry is removed once");
        let word = index as usize / 64;
        self.free[word] |= 1 << (index % 64);
        self.lowest = self.lowest.min(word);
        self.len -= 1;
        entry
    }

    /// The entry at an index.
    ///
    /// # Panics
    /// If the index holds no entry.
    #[inline]
    pub fn get(&self, index: u32) -> &T {
        self.entries[index as usize].as_ref().expect("a slab entry is used while it lives")
    }

    /// The entry at an index, mutable.
    ///
    /// # Panics
    /// If the index holds no entry.
    #[inline]
    pub fn get_mut(&mut self, index: u32) -> &mut T {
        self.entries[index as usize].as_mut().expect("a slab entry is used while it lives")
    }

    /// Number of entries stored.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the slab holds no entries.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether [`Slab::insert`] would refuse an entry.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len == self.capacity
    }

    /// Iterates over indices and entries, lowest index first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.entries.iter().enumerate().filter_map(|(index, entry)| Some((index as u32, entry.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_name_is_used_first() {
        let mut slab = Slab::new(70);
        for n in 0..70 {
            assert_eq!(slab.insert(n), Ok(n));
        }
        assert_eq!(slab.insert(99), Err(99));
        assert_eq!((slab.remove(69), slab.remove(3)), (69, 3));
        assert_eq!((slab.insert(100), slab.insert(101)), (Ok(3), Ok(69)));
        assert!(slab.is_full());
    }
}
