//! A slab: storage of fixed capacity whose entries are named by small numbers that are used again.

/// Entries of one kind, each named by the index that [`Slab::insert`] gave. The lowest free index is used
/// first, so that the names do not depend on the order of removal.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    entries: Vec<Option<T>>,
    /// Bit n of word w: entry 64 w + n is free.
    free: Vec<u64>,
    len: usize,
    capacity: usize,
}

impl<T> Slab<T> {
    /// An empty slab for `capacity` entries, whose memory is reserved now and touched when first used.
    pub fn new(capacity: usize) -> Self {
        let mut free = vec![u64::MAX; capacity.div_ceil(64)];
        if !capacity.is_multiple_of(64)
            && let Some(last) = free.last_mut()
        {
            *last = (1 << (capacity % 64)) - 1;
        }
        Slab { entries: Vec::with_capacity(capacity), free, len: 0, capacity }
    }

    /// Stores an entry and names it; handed back when full.
    #[inline]
    pub fn insert(&mut self, entry: T) -> Result<u32, T> {
        for (word, bits) in self.free.iter_mut().enumerate() {
            if *bits != 0 {
                let index = 64 * word + bits.trailing_zeros() as usize;
                *bits &= *bits - 1;
                // The lowest free index is at most one beyond those that were ever used.
                match self.entries.get_mut(index) {
                    Some(place) => *place = Some(entry),
                    None => self.entries.push(Some(entry)),
                }
                self.len += 1;
                return Ok(index as u32);
            }
        }
        Err(entry)
    }

    /// Takes an entry out.
    ///
    /// # Panics
    /// When there is no such entry: its name was used twice.
    #[inline]
    pub fn remove(&mut self, index: u32) -> T {
        let entry = self.entries[index as usize].take().expect("a slab entry is removed once");
        self.free[index as usize / 64] |= 1 << (index % 64);
        self.len -= 1;
        entry
    }

    /// The entry of a name.
    ///
    /// # Panics
    /// When there is no such entry.
    #[inline]
    pub fn get(&self, index: u32) -> &T {
        self.entries[index as usize].as_ref().expect("a slab entry is used while it lives")
    }

    /// The entry of a name, to change it.
    ///
    /// # Panics
    /// When there is no such entry.
    #[inline]
    pub fn get_mut(&mut self, index: u32) -> &mut T {
        self.entries[index as usize].as_mut().expect("a slab entry is used while it lives")
    }

    /// Entries stored.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is stored.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether an entry would be handed back.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len == self.capacity
    }

    /// Entries and their names, lowest name first.
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
