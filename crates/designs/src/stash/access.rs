//! Loads and stores: hit, miss, lazy writeback of what is replaced, and copies of replicated data (4.2, 4.5).

use strata_engine::Cycle;
use strata_warp::LaneMask;

use super::error::Why;
use super::port::{Access, AccessRefusal, Refusal};
use super::storage::Bits;
use super::unit::{Miss, Stash, Waiting};
use crate::denovo::{Action, Event, Flight, State, transition};

impl Stash {
    /// Takes an access.
    ///
    /// # Errors
    /// `Busy`: a word's chunk is written back or has something under way; nothing of the access has happened. `Wrong`: the
    /// access is not in its mapping.
    pub fn offer(&mut self, access: &Access, now: Cycle) -> Result<(), AccessRefusal> {
        self.outbox.begin();
        let map = self.mapping_of(access).map_err(|(_, why)| Refusal::Wrong(why))?;
        if !self.make_room(access, map, now) {
            self.statistics.refusals += 1;
            return Err(Refusal::Busy);
        }
        let mut access = access.clone();
        let mut missing: LaneMask = 0;
        for (lane, word) in Stash::lanes(&access.clone()) {
            let is_here = match map {
                None => true,
                Some(map) if access.is_store => {
                    self.store(map, word, now);
                    true
                }
                Some(map) => self.load(map, word, now),
            };
            if access.is_store {
                self.storage.words[word] = access.words[lane];
            } else if is_here {
                access.words[lane] = self.storage.words[word];
            } else {
                missing |= 1 << lane;
            }
        }
        if let Some(map) = map.filter(|_| *self.config.takes_along) {
            self.name_neighbours(map);
        }
        if missing == 0 {
            let at = now + u64::from(*self.config.hit_cycles);
            self.finish(access, at);
        } else {
            self.waiting.push(Waiting { access, missing });
        }
        Ok(())
    }

    /// Whether an access can ever be performed; if not, the lane at fault and why.
    ///
    /// # Errors
    /// Its mapping is none of the CTA's, a lane is not in it or not on a word, or a lane without a mapping is on a word that one of the
    /// CTA's has.
    pub fn check(&self, access: &Access) -> Result<(), (usize, Why)> {
        self.mapping_of(access).map(|_| ())
    }

    /// The stash-map entry of an access, by way of the map index table; `None` in the modes without a mapping.
    fn mapping_of(&self, access: &Access) -> Result<Option<u8>, (usize, Why)> {
        let row = self.table.of(access.cta.into());
        let mut words = 0..self.storage.words.len();
        let mut map = None;
        if let Some(index) = access.map {
            let none = || {
                let why = Why::NoSuchMap { index: index.into(), maps: row.len() };
                (access.lanes.trailing_zeros() as usize, why)
            };
            let found = *row.get(usize::from(index)).ok_or_else(none)?;
            words = self.entry(found).words();
            map = Some(found);
        }
        for (lane, word) in Stash::lanes(access) {
            let address = access.addresses[lane].into();
            if !words.contains(&word) || !access.addresses[lane].is_multiple_of(4) {
                let [start, end] = [words.start, words.end].map(|word| word as u64 * 4);
                return Err((lane, Why::OutsideMapping { address, start, end }));
            }
            let has = |other: &u8| self.entry(*other).words().contains(&word);
            if map.is_none()
                && let Some(index) = row.iter().position(has)
            {
                return Err((lane, Why::NamesNoMap { address, index }));
            }
        }
        Ok(map)
    }

    /// Writes back chunks that other mappings have left, and says whether every word can be accessed now.
    fn make_room(&mut self, access: &Access, map: Option<u8>, now: Cycle) -> bool {
        for (_, word) in Stash::lanes(access) {
            let chunk = word / self.storage.chunk_words;
            if self.storage.is_leaving(chunk) && !self.adopts(map, chunk) {
                if !self.can_leave(chunk) {
                    self.send_registrations();
                    return false;
                }
                self.write_back(chunk, Event::Evict, now);
            }
            let Some(map) = map else { continue };
            if !self.goes(map, word, access.is_store) {
                return false;
            }
        }
        true
    }

    /// Whether a mapping takes over the words that an older one has left in a chunk: both map the same addresses to the same
    /// place (reading 4).
    pub(super) fn adopts(&self, map: Option<u8>, chunk: usize) -> bool {
        let older = self.storage.chunks[chunk].map;
        map.is_some_and(|map| self.entry(map).is_alike(self.entry(older)))
    }

    /// Whether a word can be accessed now, or asked for, or is on its way.
    fn goes(&self, map: u8, word: usize, is_store: bool) -> bool {
        let here = self.storage.bits[word];
        if here == Bits::Expected && is_store && self.is_waited_for(word) {
            return false;
        }
        if !self.entry(map).coherent && is_store {
            return self.flights[word] == Flight::None;
        }
        if if is_store { here.state() == State::Registered } else { here.state() != State::Invalid } {
            return true;
        }
        let address = self.address(map, word);
        let (state, flight) = self.protocol(map, word, address);
        let event = if is_store { Event::Store } else { Event::Load };
        let joins = !is_store && (flight == Flight::Read || here == Bits::Expected);
        joins || !matches!(transition(state, flight, event), None | Some((_, _, Action::Wait)))
    }

    /// Loads a word; `false` if it must come first.
    fn load(&mut self, map: u8, word: usize, now: Cycle) -> bool {
        let here = self.storage.bits[word];
        if here.state() != State::Invalid {
            self.statistics.hits += 1;
            if here == Bits::Unread {
                self.storage.bits[word] = Bits::Valid;
            }
            return true;
        }
        if self.flights[word] == Flight::Read || here == Bits::Expected {
            self.statistics.merges += 1;
            return false;
        }
        self.statistics.misses += 1;
        if self.copy(map, word, now) {
            return true;
        }
        let address = self.physical(map, word);
        self.statistics.reads += 1;
        self.ask(Miss { map, address, word }, now);
        false
    }

    /// Prepares a word to be written.
    fn store(&mut self, map: u8, word: usize, now: Cycle) {
        if !self.entry(map).coherent {
            self.statistics.hits += 1;
            self.storage.bits[word] = Bits::Registered;
        } else if self.storage.bits[word].state() == State::Registered {
            self.statistics.hits += 1;
        } else {
            self.statistics.misses += 1;
            self.claim(map, word, now);
        }
    }

    /// Registers a word, under the entry that its chunk is registered under already, if it is (4.2, "Lazy Writebacks").
    pub(super) fn claim(&mut self, map: u8, word: usize, now: Cycle) {
        let chunk = word / self.storage.chunk_words;
        let adopted = self.storage.is_leaving(chunk);
        let state = &mut self.storage.chunks[chunk];
        if !state.dirty {
            state.dirty = true;
            if !adopted {
                state.map = map;
                self.map.get_mut(map).expect("the mapping of an access is valid").dirty_chunks += 1;
            }
        }
        let map = self.storage.chunks[chunk].map;
        let address = self.physical(map, word);
        self.drop_unread(address);
        self.storage.bits[word] = Bits::Registered;
        self.statistics.registrations += 1;
        self.register(Miss { map, address, word }, now);
    }

    /// Copies a word from the mapping that the reuse bit's pointer names, if it is there (4.5).
    fn copy(&mut self, map: u8, word: usize, now: Cycle) -> bool {
        let entry = *self.entry(map);
        let Some(old) = entry.reuse else { return false };
        let other = *self.entry(old);
        if other.stash_base == entry.stash_base {
            return false;
        }
        let from = word + other.words().start - entry.words().start;
        let chunk = self.storage.chunks[from / self.storage.chunk_words];
        let registered = match self.storage.bits[from] {
            Bits::Leaving if chunk.map == old => true,
            Bits::Registered if other.coherent && other.cta.is_some() => true,
            Bits::Valid | Bits::Unread if other.cta.is_some() => false,
            _ => return false,
        };
        self.storage.words[word] = self.storage.words[from];
        self.statistics.copies += 1;
        if registered && entry.coherent {
            self.claim(map, word, now);
        } else {
            self.storage.bits[word] = Bits::Valid;
        }
        true
    }

    /// Data have come for a word: the loads that wait for it take them.
    pub(super) fn fill(&mut self, word: usize, value: u32, now: Cycle) {
        self.storage.words[word] = value;
        self.storage.bits[word] = Bits::Unread;
        let at = now + u64::from(*self.config.hit_cycles);
        let mut place = 0;
        while place < self.waiting.len() {
            let Waiting { access, missing } = &mut self.waiting[place];
            for (lane, other) in Stash::lanes(&access.clone()) {
                if other == word && *missing & 1 << lane != 0 {
                    access.words[lane] = value;
                    *missing &= !(1 << lane);
                    self.storage.bits[word] = Bits::Valid;
                }
            }
            if *missing == 0 {
                let Waiting { access, .. } = self.waiting.remove(place);
                self.finish(access, at);
            } else {
                place += 1;
            }
        }
    }
}
