//! Words that come along with a miss: those of its line that its mapping has as well (reading 12).

use std::ops::Range;

use strata_engine::Cycle;

use super::port::LINE_WORDS;
use super::storage::Bits;
use super::unit::{Miss, Stash, Waiting};
use crate::denovo::{Action, Event, Flight, State, transition};

impl Stash {
    /// Names in each read of the operation under way what would come along.
    pub(super) fn name_neighbours(&mut self, map: u8) {
        let asked: Vec<u64> = self.outbox.reads().filter_map(|read| Some(read.each().next()?.0)).collect();
        for (n, address) in asked.into_iter().enumerate() {
            let miss = self.misses.iter().rev().find(|miss| (miss.map, miss.address) == (map, address));
            let along = self.expect_neighbours(map, miss.expect("what is asked for is missed").word);
            self.outbox.reads().nth(n).expect("it was there just now").along = along;
        }
    }

    /// The words of the line of a mapping's `word` that shall come along with it, bit n for word n of the line. They are expected
    /// from then on.
    pub(super) fn expect_neighbours(&mut self, map: u8, word: usize) -> u32 {
        let mut along = 0;
        for other in self.words_of_line(map, word) {
            if other == word || self.storage.bits[other] == Bits::Expected || !self.is_empty(map, other) {
                continue;
            }
            let address = self.address(map, other);
            if self.protocol(map, other, address).1 == Flight::None {
                self.storage.bits[other] = Bits::Expected;
                along |= 1 << (address / 4 % LINE_WORDS);
            }
        }
        along
    }

    /// A word came along: it stays if its place is still empty, and no other mapping has written it meanwhile. Who has, has it still:
    /// the registry sent the word before the grant.
    pub(super) fn came_along(&mut self, map: u8, address: u64, value: u32, now: Cycle) {
        let Some(word) = self.word(map, address).filter(|word| self.is_empty(map, *word)) else { return };
        if self.owns(address) {
            return;
        }
        let (state, flight) = self.protocol(map, word, address);
        if matches!(transition(state, flight, Event::Extra), Some((_, _, Action::Fill))) {
            self.statistics.words_along += 1;
            self.fill(word, value, now);
        }
    }

    /// A mapping registers the word of a physical address: copies of it under other mappings go, unless a load has taken them.
    pub(super) fn drop_unread(&mut self, address: u64) {
        let Stash { map, storage, pages, .. } = self;
        for address in pages.virtuals(address) {
            let running = map.valid().filter(|(_, entry)| entry.cta.is_some());
            for word in running.filter_map(|(_, entry)| entry.word(address)) {
                if storage.bits[word] == Bits::Unread {
                    storage.bits[word] = Bits::Invalid;
                }
            }
        }
    }

    /// Data of a line have come: words that were expected with them and did not come are asked for if a load waits for them.
    pub(super) fn ask_for_missing(&mut self, map: u8, address: u64, now: Cycle) {
        let Some(word) = self.word(map, address) else { return };
        for other in self.words_of_line(map, word) {
            if self.storage.bits[other] != Bits::Expected {
                continue;
            }
            self.storage.bits[other] = Bits::Invalid;
            if self.is_waited_for(other) {
                let address = self.physical(map, other);
                self.statistics.reads += 1;
                self.statistics.misses += 1;
                self.ask(Miss { map, address, word: other }, now);
            }
        }
    }

    /// Whether a load waits for a word.
    pub(super) fn is_waited_for(&self, word: usize) -> bool {
        let waits = |Waiting { access, missing }: &Waiting| {
            Stash::lanes(access).any(|(lane, other)| other == word && missing >> lane & 1 == 1)
        };
        self.waiting.iter().any(waits)
    }

    /// The words of the stash that a mapping has in the line of the caches in which `word` is: fields follow each other in the stash as in memory, so
    /// they lie together.
    fn words_of_line(&self, map: u8, word: usize) -> Range<usize> {
        let entry = self.entry(map);
        let line_of = |word| entry.address(word) / u64::from(*self.config.line_bytes);
        let (line, words) = (line_of(word), entry.words());
        let before = (words.start..word).rev().take_while(|word| line_of(*word) == line).count();
        let after = (word..words.end).take_while(|word| line_of(*word) == line).count();
        word - before..word + after
    }

    /// Whether the place of a mapped word has nothing of any mapping. What an older one has left in the chunk leaves first, unless
    /// this one takes it over.
    fn is_empty(&self, map: u8, word: usize) -> bool {
        let chunk = word / self.storage.chunk_words;
        self.storage.bits[word].state() == State::Invalid
            && self.entry(map).cta.is_some()
            && (!self.storage.is_leaving(chunk) || self.adopts(Some(map), chunk))
    }
}
