//! The stash: its parts, and what all operations use.

use strata_engine::Cycle;
use strata_warp::{LaneMask, WARP_LANES};

use super::config::StashConfig;
use super::map_index_table::MapIndexTable;
use super::outbox::{Outbox, WritebackBuffer};
use super::port::{Access, LINE_WORDS, Packet, Receiver};
use super::stash_map::{Entry, StashMap};
use super::statistics::StashStatistics;
use super::storage::{Bits, Storage};
use super::vp_map::VpMap;
use crate::denovo::{Action, Event, Flight, Message, Owner, Place, State, transition};

/// A word that is asked for or being registered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Miss {
    pub map: u8,
    pub address: u64,
    pub word: usize,
}

/// An access whose words are not all here.
#[derive(Debug)]
pub(super) struct Waiting {
    pub access: Access,
    pub missing: LaneMask,
}

/// The stash of a CU.
#[derive(Debug)]
pub struct Stash {
    pub(super) config: StashConfig,
    pub(super) node: u8,
    pub(super) storage: Storage,
    pub(super) table: MapIndexTable,
    pub(super) map: StashMap,
    pub(super) pages: VpMap,
    /// By word of the storage: a read or a registration.
    pub(super) flights: Vec<Flight>,
    pub(super) misses: Vec<Miss>,
    pub(super) buffer: WritebackBuffer,
    pub(super) waiting: Vec<Waiting>,
    pub(super) done: std::collections::VecDeque<(Cycle, Access)>,
    pub(super) outbox: Outbox,
    pub(super) statistics: StashStatistics,
}

impl Stash {
    /// An empty stash at a node. The parameters must have been checked.
    pub fn new(config: &StashConfig, node: u8) -> Stash {
        let words = *config.bytes as usize / 4;
        Stash {
            config: config.clone(),
            node,
            storage: Storage::new(words, *config.chunk_bytes as usize / 4),
            table: MapIndexTable::new(*config.ctas as usize, *config.maps_per_cta as usize),
            map: StashMap::new(*config.map_entries as usize),
            pages: VpMap::new(*config.vp_entries as usize, u64::from(*config.page_bytes)),
            flights: vec![Flight::None; words],
            misses: Vec::new(),
            buffer: WritebackBuffer::new(words),
            waiting: Vec::new(),
            done: std::collections::VecDeque::new(),
            outbox: Outbox::new(
                *config.combined_lines as usize,
                u64::from(*config.combine_cycles),
                u64::from(*config.line_bytes) / 4,
            ),
            statistics: StashStatistics::default(),
        }
    }

    /// The stash as the owner of words registered under a stash-map entry.
    pub fn owner(&self, map: u8) -> Owner {
        Owner { node: self.node, place: Place::Stash { map } }
    }

    /// The next request to the registry that leaves at `now` or could have before.
    pub fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.outbox.pop_request(now)
    }

    /// The packet that [`Stash::outgoing`] would give.
    pub fn next_outgoing(&self, now: Cycle) -> Option<Packet> {
        self.outbox.next_request(now)
    }

    /// Registrations wait for no others any more.
    pub fn send_registrations(&mut self) {
        self.outbox.release();
    }

    /// The next packet that is not a request: what the stash says about words that it owns.
    pub fn answer(&mut self, now: Cycle) -> Option<Packet> {
        self.outbox.pop_answer(now)
    }

    /// The packet that [`Stash::answer`] would give.
    pub fn next_answer(&self, now: Cycle) -> Option<&Packet> {
        self.outbox.next_answer(now)
    }

    /// For a host copy between kernels: visits the words of a line of physical memory that this stash owns.
    pub fn each_owned(&mut self, line: u64, mut visit: impl FnMut(u64, &mut u32)) {
        let Stash { map, storage, pages, .. } = self;
        // A line lies in one page.
        if pages.virtuals(line * LINE_WORDS * 4).next().is_none() {
            return;
        }
        for word in 0..LINE_WORDS {
            let physical = (line * LINE_WORDS + word) * 4;
            if let Some(place) = owned_place(map, storage, pages, physical) {
                visit(word, &mut storage.words[place]);
            }
        }
    }

    /// Whether this stash owns the word of a physical address.
    pub(super) fn owns(&self, address: u64) -> bool {
        owned_place(&self.map, &self.storage, &self.pages, address).is_some()
    }

    /// The next access that is done, with the words loaded.
    pub fn completed(&mut self, now: Cycle) -> Option<Access> {
        let ready = self.done.front().is_some_and(|(at, _)| *at <= now);
        if ready { self.done.pop_front().map(|(_, access)| access) } else { None }
    }

    /// The first cycle after `now` in which something can leave or be done, unless something is taken or arrives before.
    pub fn next_event(&self, now: Cycle) -> Cycle {
        let done = self.done.front().map_or(Cycle::NEVER, |(at, _)| *at);
        done.min(self.outbox.next()).max(now)
    }

    /// Whether reads or registrations are under way.
    pub fn is_missing(&self) -> bool {
        !self.misses.is_empty()
    }

    /// Words asked for or being registered.
    pub fn missing(&self) -> usize {
        self.misses.len()
    }

    /// Mappings that a CTA has added.
    pub fn maps_of(&self, cta: u8) -> usize {
        self.table.of(cta.into()).len()
    }

    /// Words written back and not answered.
    pub fn writing_back(&self) -> usize {
        self.buffer.len()
    }

    /// The counters.
    pub fn statistics(&self) -> &StashStatistics {
        &self.statistics
    }

    /// When a packet that needs a translation leaves.
    pub(super) fn translated(&self, now: Cycle) -> Cycle {
        now + u64::from(*self.config.hit_cycles) + u64::from(*self.config.translation_cycles)
    }

    /// An entry that is known to be valid.
    pub(super) fn entry(&self, map: u8) -> &Entry {
        self.map.get(map).expect("an entry stays valid while words are mapped or registered under it")
    }

    /// Miss, steps 2 and 3: from a word of the storage to its physical address (4.2).
    pub(super) fn physical(&mut self, map: u8, word: usize) -> u64 {
        self.statistics.translations += 1;
        self.address(map, word)
    }

    /// The same, to know what is under way for a word: the stash itself knows it by its place.
    pub(super) fn address(&self, map: u8, word: usize) -> u64 {
        let address = self.entry(map).address(word);
        self.pages.physical(address).expect("the VP-map has the pages of every valid entry")
    }

    /// Remote requests: from a physical address to the word of the storage (4.3).
    pub(super) fn word(&mut self, map: u8, address: u64) -> Option<usize> {
        self.statistics.translations += 1;
        let entry = self.map.get(map)?;
        self.pages.virtuals(address).find_map(|address| entry.word(address))
    }

    /// What the protocol sees of a word that is, or would be, mapped by `map` at `address`.
    pub(super) fn protocol(&self, map: u8, word: usize, address: u64) -> (State, Flight) {
        let under_way = self.buffer.get(map, address).is_some();
        let flight = if under_way { Flight::WriteBack } else { self.flights[word] };
        let local = !self.entry(map).coherent && self.storage.bits[word] == Bits::Registered;
        (if local { State::Invalid } else { self.storage.bits[word].state() }, flight)
    }

    /// Sends a word to the registry.
    pub(super) fn tell_registry(&mut self, message: Message, map: u8, address: u64, value: u32, now: Cycle) {
        let (at, owner) = (self.translated(now), self.owner(map));
        self.outbox.send(at, (message, Receiver::Registry, owner, owner), address, value);
    }

    /// A word is asked for.
    pub(super) fn ask(&mut self, miss: Miss, now: Cycle) {
        self.flights[miss.word] = Flight::Read;
        self.misses.push(miss);
        self.tell_registry(Message::Read, miss.map, miss.address, 0, now);
    }

    /// A word is registered.
    pub(super) fn register(&mut self, miss: Miss, now: Cycle) {
        self.flights[miss.word] = Flight::Register;
        self.misses.push(miss);
        let (at, owner) = (self.translated(now), self.owner(miss.map));
        self.outbox.register(at, owner, miss.address);
    }

    /// Whether nothing keeps the words of a chunk from leaving.
    pub(super) fn can_leave(&self, chunk: usize) -> bool {
        self.storage.of_chunk(chunk).all(|word| {
            let state = self.storage.bits[word].state();
            !matches!(transition(state, self.flights[word], Event::Evict), None | Some((_, _, Action::Wait)))
        })
    }

    /// Lazy writeback of a chunk's registered words (4.2). `event` says whether copies stay. The chunk must be able to leave.
    pub(super) fn write_back(&mut self, chunk: usize, event: Event, now: Cycle) {
        let map = self.storage.chunks[chunk].map;
        let mut words = 0;
        for word in self.storage.of_chunk(chunk) {
            if self.storage.bits[word].state() != State::Registered {
                continue;
            }
            let address = self.physical(map, word);
            let (state, flight) = self.protocol(map, word, address);
            let Some((after, _, Action::WriteBack)) = transition(state, flight, event) else {
                unreachable!("a registered word with nothing under way is written back");
            };
            let value = self.storage.words[word];
            self.buffer.insert(map, address, value);
            self.tell_registry(Message::WriteBack, map, address, value, now);
            self.storage.bits[word] = match after {
                State::Valid if *self.config.takes_along => Bits::Unread,
                State::Valid => Bits::Valid,
                _ => Bits::Invalid,
            };
            words += 1;
        }
        self.statistics.words_written_back += words;
        self.statistics.chunks_written_back += u64::from(words > 0);
        self.release(chunk);
    }

    /// A chunk has no registered words any more: #DirtyData goes down, and an entry whose thread block has ended becomes
    /// invalid with its last chunk.
    pub(super) fn release(&mut self, chunk: usize) {
        let map = self.storage.chunks[chunk].map;
        self.storage.chunks[chunk].dirty = false;
        let entry = self.map.get_mut(map).expect("an entry is valid while it has dirty data");
        entry.dirty_chunks -= 1;
        if entry.dirty_chunks == 0 && entry.cta.is_none() {
            self.map.invalidate(map);
        }
    }

    /// An access is done at `at`.
    pub(super) fn finish(&mut self, access: Access, at: Cycle) {
        self.done.push_back((at, access));
    }

    /// The end of a thread block (4.2): words registered are to be written back before their place is used by another, the
    /// rest is dropped. Its accesses must be done.
    pub fn cta_end(&mut self, cta: u8) {
        self.send_registrations();
        let maps: Vec<u8> = self.table.of(cta.into()).to_vec();
        for map in maps {
            let entry = *self.entry(map);
            for word in entry.words() {
                let bits = &mut self.storage.bits[word];
                *bits = match *bits {
                    Bits::Registered if entry.coherent => Bits::Leaving,
                    Bits::Leaving => Bits::Leaving,
                    _ => Bits::Invalid,
                };
            }
            for chunk in self.chunks(&entry) {
                let was_dirty = std::mem::take(&mut self.storage.chunks[chunk].dirty);
                if was_dirty && !self.storage.is_leaving(chunk) {
                    self.release(chunk);
                }
            }
            let entry = self.map.get_mut(map).expect("the entry of a running thread block is valid");
            entry.cta = None;
            if entry.dirty_chunks == 0 {
                self.map.invalidate(map);
            }
        }
        self.table.clear(cta.into());
    }

    /// Writes back what ended thread blocks have left, as far as nothing is under way in its chunks.
    pub fn write_back_all(&mut self, now: Cycle) {
        self.outbox.begin();
        for chunk in 0..self.storage.chunks.len() {
            if self.storage.is_leaving(chunk) && self.can_leave(chunk) {
                self.write_back(chunk, Event::Evict, now);
            }
        }
    }

    /// Self-invalidation at the end of a kernel (4.3): copies are dropped. `false` while reads or registrations are under way.
    pub fn synchronise(&mut self) -> bool {
        if self.is_missing() {
            return false;
        }
        for bits in &mut self.storage.bits {
            if bits.state() == State::Valid {
                *bits = Bits::Invalid;
            }
        }
        true
    }

    /// The chunks of a mapping.
    pub(super) fn chunks(&self, entry: &Entry) -> std::ops::Range<usize> {
        let words = entry.words();
        words.start / self.storage.chunk_words..words.end.div_ceil(self.storage.chunk_words)
    }

    /// The lanes of an access with the words of the storage that they touch.
    pub(super) fn lanes(access: &Access) -> impl Iterator<Item = (usize, usize)> {
        let lanes = (0..WARP_LANES).filter(|lane| access.lanes & 1 << lane != 0);
        lanes.map(|lane| (lane, access.addresses[lane] as usize / 4))
    }

    /// Checks what the parts say of each other: #DirtyData counts the chunks, and a chunk's entry is valid.
    #[cfg(test)]
    pub(super) fn audit(&self) {
        let mut counts = [0; 64];
        for (number, chunk) in self.storage.chunks.iter().enumerate() {
            if chunk.dirty || self.storage.is_leaving(number) {
                counts[usize::from(chunk.map)] += 1;
            }
        }
        for map in 0..*self.config.map_entries as u8 {
            let entry = self.map.get(map);
            let dirty = entry.map_or(0, |entry| entry.dirty_chunks);
            assert_eq!(dirty, counts[usize::from(map)], "#DirtyData of entry {map}");
            let needed = entry.is_none_or(|entry| entry.cta.is_some() || entry.dirty_chunks > 0);
            assert!(needed, "entry {map} is valid and nobody needs it");
        }
    }
}

/// Where the storage has the word of a physical address that the stash owns.
fn owned_place(map: &StashMap, storage: &Storage, pages: &VpMap, address: u64) -> Option<usize> {
    pages.virtuals(address).find_map(|address| {
        map.valid().filter(|(_, entry)| entry.coherent).find_map(|(index, entry)| {
            let place = entry.word(address)?;
            let is_its = storage.chunks[place / storage.chunk_words].map == index;
            (is_its && storage.bits[place].state() == State::Registered).then_some(place)
        })
    })
}
