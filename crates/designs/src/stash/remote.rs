//! What arrives: replies, and requests of others (4.3).

use strata_engine::Cycle;

use super::port::{Packet, Receiver};
use super::storage::Bits;
use super::unit::Stash;
use crate::denovo::{Action, Event, Flight, Message, Owner, Place, State, transition};

impl Stash {
    /// A packet arrives.
    ///
    /// # Panics
    /// If the registry asks for a word that it has no reason to believe here: it and this stash do not run the same
    /// protocol.
    pub fn accept(&mut self, packet: &Packet, now: Cycle) {
        self.outbox.begin();
        let Place::Stash { map } = packet.owner.place else { panic!("a stash is sent what is a cache's") };
        for (address, value) in packet.each() {
            match packet.message {
                Message::Data | Message::Granted => self.replied(packet.message, map, address, value, now),
                Message::WrittenBack => self.buffer.remove(map, address),
                message => self.requested(message, map, address, packet.requester, now),
            }
        }
        if packet.message == Message::Data {
            for (address, value) in packet.each_along() {
                self.came_along(map, address, value, now);
            }
            if let Some((address, _)) = packet.each().next() {
                self.ask_for_missing(map, address, now);
            }
        }
    }

    /// The reply to a read or a registration.
    fn replied(&mut self, message: Message, map: u8, address: u64, value: u32, now: Cycle) {
        let found = self.misses.iter().position(|miss| (miss.map, miss.address) == (map, address));
        let miss = self.misses.swap_remove(found.expect("a reply answers a miss"));
        let (state, flight) = (self.storage.bits[miss.word].state(), self.flights[miss.word]);
        let Some((_, after, action)) = transition(state, flight, Event::Arrives(message)) else {
            panic!("{message:?} does not answer {flight:?} of a word that is {state:?}");
        };
        self.flights[miss.word] = after;
        if action == Action::Fill {
            self.fill(miss.word, value, now);
        }
    }

    /// Another asks for a word, takes it, or the registry recalls it.
    fn requested(&mut self, message: Message, map: u8, address: u64, requester: Owner, now: Cycle) {
        self.statistics.remote_requests += 1;
        let buffered = self.buffer.get(map, address);
        let word = self.mapped_word(map, address, buffered.is_some());
        let state = word.map_or(State::Invalid, |word| self.storage.bits[word].state());
        let flight = match (buffered, word) {
            (Some(_), _) => Flight::WriteBack,
            (None, Some(word)) => self.flights[word],
            (None, None) => Flight::None,
        };
        let Some((after, _, action)) = transition(state, flight, Event::Arrives(message)) else {
            panic!(
                "{message:?} for {address:#x} under map {map}, which is {state:?} with {flight:?} under way"
            );
        };
        let value = buffered.or(word.map(|word| self.storage.words[word])).unwrap_or(0);
        self.reply(action, (map, requester), address, value, now);
        if let Some(word) = word.filter(|_| after != state) {
            self.lose(word, state);
        }
    }

    /// The word of the storage that a request means. While a writeback is under way, its place may have been given to
    /// others: only that of a running mapping counts.
    fn mapped_word(&mut self, map: u8, address: u64, is_buffered: bool) -> Option<usize> {
        let word = self.word(map, address)?;
        let entry = self.entry(map);
        let is_copy = entry.cta.is_some() && self.storage.bits[word].state() == State::Valid;
        let chunk = self.storage.chunks[word / self.storage.chunk_words];
        if if is_buffered { is_copy } else { chunk.map == map } { Some(word) } else { None }
    }

    fn reply(&mut self, action: Action, (map, requester): (u8, Owner), address: u64, value: u32, now: Cycle) {
        let (message, to, owner) = match action {
            Action::Supply | Action::SupplyBuffered => {
                (Message::Data, Receiver::Memory(requester), requester)
            }
            Action::Yield => (Message::Granted, Receiver::Memory(requester), requester),
            Action::Return => (Message::Return, Receiver::Registry, self.owner(map)),
            _ => return,
        };
        let at = self.translated(now);
        self.outbox.send(at, (message, to, owner, owner), address, value);
    }

    /// A word is not here any more.
    fn lose(&mut self, word: usize, before: State) {
        self.storage.bits[word] = Bits::Invalid;
        let chunk = word / self.storage.chunk_words;
        let holds = self.storage.chunks[chunk].dirty || self.storage.is_leaving(chunk);
        if before == State::Registered && !holds {
            self.release(chunk);
        }
    }
}
