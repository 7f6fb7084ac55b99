//! Words that come along with a miss: those of its line that its mapping has as well (reading 12).

use super::port::LINE_WORDS;
use super::storage::Bits;
use super::unit::Stash;
use crate::denovo::{Action, Event, transition};

impl Stash {
    /// The words of the line of a mapping's `word` that could come along with it, bit n for word n of the line.
    pub(super) fn neighbours(&self, map: u8, word: usize) -> u32 {
        let entry = self.entry(map);
        let line_of = |word| entry.address(word) / 4 / LINE_WORDS;
        let line = line_of(word);
        // Fields follow each other in the stash as in memory, so those of a line lie together.
        let before = (entry.words().start..word).rev().take_while(|word| line_of(*word) == line);
        let after = (word + 1..entry.words().end).take_while(|word| line_of(*word) == line);
        let taken = before.chain(after).filter(|word| self.is_empty(map, *word));
        taken.fold(0, |words, word| words | 1 << (entry.address(word) / 4 % LINE_WORDS))
    }

    /// A word came along: it stays if its place is still empty.
    pub(super) fn came_along(&mut self, map: u8, address: u64, value: u32) {
        let Some(word) = self.word(map, address) else { return };
        if !self.is_empty(map, word) {
            return;
        }
        let (state, flight) = self.protocol(map, word, address);
        if matches!(transition(state, flight, Event::Extra), Some((_, _, Action::Fill))) {
            self.storage.words[word] = value;
            self.storage.bits[word] = Bits::Valid;
            self.statistics.words_along += 1;
        }
    }

    /// Whether the place of a mapped word has nothing of any mapping. What an older one has left in the chunk leaves first, unless
    /// this one takes it over.
    fn is_empty(&self, map: u8, word: usize) -> bool {
        let chunk = word / self.storage.chunk_words;
        self.storage.bits[word] == Bits::Invalid
            && self.entry(map).cta.is_some()
            && (!self.storage.is_leaving(chunk) || self.adopts(Some(map), chunk))
    }
}
