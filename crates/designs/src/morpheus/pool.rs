//! Things under way, each named by a small number that it keeps.

/// A pool that grows to as many entries as were ever in it at once.
#[derive(Debug)]
pub struct Pool<T> {
    entries: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T> Pool<T> {
    /// Adds an entry and returns its number.
    pub fn insert(&mut self, entry: T) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.entries[number as usize] = Some(entry);
                number
            }
            None => {
                self.entries.push(Some(entry));
                self.entries.len() as u32 - 1
            }
        }
    }

    /// Takes an entry out.
    ///
    /// # Panics
    /// If there is none of that number.
    pub fn remove(&mut self, number: u32) -> T {
        self.free.push(number);
        self.entries[number as usize].take().expect("an entry is removed once")
    }

    /// The entry of a number.
    ///
    /// # Panics
    /// If there is none.
    pub fn get(&self, number: u32) -> &T {
        self.entries[number as usize].as_ref().expect("an entry is used while it is there")
    }

    /// The entry of a number, to change it.
    ///
    /// # Panics
    /// If there is none.
    pub fn get_mut(&mut self, number: u32) -> &mut T {
        self.entries[number as usize].as_mut().expect("an entry is used while it is there")
    }

    /// The entries of two numbers, to change them.
    ///
    /// # Panics
    /// If they are the same, or there is none of one.
    pub fn get_both(&mut self, one: u32, other: u32) -> (&mut T, &mut T) {
        let both = self.entries.get_disjoint_mut([one as usize, other as usize]);
        let [one, other] = both.expect("two entries have two numbers");
        let there = "an entry is used while it is there";
        (one.as_mut().expect(there), other.as_mut().expect(there))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }
}
