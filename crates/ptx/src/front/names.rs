//! Interned words: every identifier of a text is one number.

/// An interned word of one module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub(crate) u32);

/// The words of a module: an arena of text and an open-addressed table into it.
#[derive(Clone, Debug)]
pub struct Names {
    text: String,
    /// End of each word in `text`; a word begins where the one before it ends.
    ends: Vec<u32>,
    /// Word number + 1, or 0 for an empty slot; a power of two in length, at most half full.
    slots: Vec<u32>,
}

impl Default for Names {
    fn default() -> Self {
        Names { text: String::new(), ends: Vec::new(), slots: vec![0; 1024] }
    }
}

impl Names {
    /// The word of a name.
    #[inline]
    pub fn text(&self, name: Name) -> &str {
        let at = name.0 as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.text[start..self.ends[at] as usize]
    }

    /// Every word, in the order of their names.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|name| self.text(Name(name)))
    }

    /// The name of a word that is interned already.
    pub fn get(&self, word: &str) -> Option<Name> {
        let slot = self.slot_of(word);
        self.slots[slot].checked_sub(1).map(Name)
    }

    /// The name of a word, new or old.
    #[inline]
    pub fn intern(&mut self, word: &str) -> Name {
        let slot = self.slot_of(word);
        if let Some(known) = self.slots[slot].checked_sub(1) {
            return Name(known);
        }
        let name = self.ends.len() as u32;
        self.text.push_str(word);
        self.ends.push(self.text.len() as u32);
        self.slots[slot] = name + 1;
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        Name(name)
    }

    fn slot_of(&self, word: &str) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash(word) as usize & mask;
        loop {
            match self.slots[slot].checked_sub(1) {
                Some(name) if self.text(Name(name)) != word => slot = (slot + 1) & mask,
                _ => return slot,
            }
        }
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![0; mask + 1];
        for name in 0..self.ends.len() as u32 {
            let mut slot = hash(self.text(Name(name))) as usize & mask;
            while slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            slots[slot] = name + 1;
        }
        self.slots = slots;
    }
}

/// Eight bytes a step, folded so that the low bits depend on all of them.
#[inline]
fn hash(word: &str) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut sum = word.len() as u64;
    for chunk in word.as_bytes().chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        sum = (sum.rotate_left(23) ^ u64::from_le_bytes(bytes)).wrapping_mul(ODD);
    }
    sum ^ (sum >> 32)
}
