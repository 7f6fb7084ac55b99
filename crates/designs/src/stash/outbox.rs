//! Packets that leave, and words that are written back and not answered yet.

use std::collections::{HashMap, VecDeque};

use strata_engine::Cycle;

use super::port::{LINE_WORDS, Packet, Receiver};
use crate::denovo::{Combiner, Message, Owner};

/// Packets of one kind in order, each with the cycle from which it may leave.
#[derive(Debug, Default)]
struct Queue {
    packets: VecDeque<(Cycle, Packet)>,
    /// Packets of the operation under way: the last ones.
    batch: usize,
}

impl Queue {
    fn pop(&mut self) -> Option<Packet> {
        self.batch = 0;
        self.packets.pop_front().map(|(_, packet)| packet)
    }
}

/// What leaves by one of two ways: requests, which the registry may leave waiting, and all else, which is always taken and must
/// not wait for them. Words of one operation that say the same about one line of the caches leave in one packet; registrations also wait
/// for those of other operations.
#[derive(Debug)]
pub struct Outbox {
    reads: Queue,
    /// By owner and number of the cache's line.
    registrations: Combiner<(Owner, u64)>,
    answers: Queue,
    /// Words of a cache's line: what a packet is about at most.
    cache_line_words: u64,
}

impl Outbox {
    /// An empty outbox, in which the registrations of `lines` lines wait for at most `cycles`. The caches' lines have
    /// `cache_line_words` words.
    pub fn new(lines: usize, cycles: u64, cache_line_words: u64) -> Outbox {
        let registrations = Combiner::new(lines, cycles);
        Outbox { reads: Queue::default(), registrations, answers: Queue::default(), cache_line_words }
    }

    /// An operation begins.
    pub fn begin(&mut self) {
        (self.reads.batch, self.answers.batch) = (0, 0);
    }

    /// Registers a word of an owner's.
    pub fn register(&mut self, at: Cycle, owner: Owner, address: u64) {
        let (line, word) = (address / 4 / self.cache_line_words, address / 4 % LINE_WORDS);
        self.registrations.add((owner, line), 1 << word, at);
    }

    /// Registrations wait for no others any more.
    pub fn release(&mut self) {
        self.registrations.release();
    }

    /// Adds a word to the operation.
    pub fn send(&mut self, at: Cycle, head: (Message, Receiver, Owner, Owner), address: u64, value: u32) {
        let (line, word) = (address / 4 / LINE_WORDS, address / 4 % LINE_WORDS);
        if head.0 == Message::Read {
            // The registry must know what another mapping has written of the line, or its data would be old.
            let line = address / 4 / self.cache_line_words;
            self.registrations.release_through(|(_, held)| held == line);
        }
        let first_word = word - word % self.cache_line_words;
        let together = u32::MAX >> (LINE_WORDS - self.cache_line_words) << first_word;
        let Queue { packets, batch } =
            if head.0 == Message::Read { &mut self.reads } else { &mut self.answers };
        let first = packets.len() - *batch;
        let same = |(_, packet): &&mut (Cycle, Packet)| {
            (packet.message, packet.to, packet.owner, packet.requester) == head
                && packet.line == line
                && packet.words & together != 0
        };
        let packet = match packets.range_mut(first..).find(same) {
            Some((_, packet)) => packet,
            None => {
                let (message, to, owner, requester) = head;
                let data = [0; LINE_WORDS as usize];
                packets.push_back((
                    at,
                    Packet { message, to, owner, requester, line, words: 0, along: 0, data },
                ));
                *batch += 1;
                &mut packets.back_mut().expect("it was added just now").1
            }
        };
        packet.words |= 1 << word;
        packet.data[word as usize] = value;
    }

    /// The reads of the operation.
    pub fn reads(&mut self) -> impl Iterator<Item = &mut Packet> {
        let first = self.reads.packets.len() - self.reads.batch;
        self.reads.packets.range_mut(first..).map(|(_, packet)| packet)
    }

    /// The next request that may leave. Of two that may leave since the same cycle, the registration goes first.
    pub fn pop_request(&mut self, now: Cycle) -> Option<Packet> {
        let packet = self.next_request(now)?;
        if packet.message == Message::Read {
            self.reads.pop();
        } else {
            self.registrations.pop();
        }
        Some(packet)
    }

    /// The request that [`Outbox::pop_request`] would give.
    pub fn next_request(&self, now: Cycle) -> Option<Packet> {
        let read = self.reads.packets.front();
        let registration = self.registrations.front();
        let read_at = read.map_or(Cycle::NEVER, |(at, _)| *at);
        match (read, registration) {
            (_, Some((at, (owner, line), words))) if at <= read_at && at <= now => {
                let (message, to, data) = (Message::Register, Receiver::Registry, [0; LINE_WORDS as usize]);
                let line = line * self.cache_line_words / LINE_WORDS;
                Some(Packet { message, to, owner, requester: owner, line, words, along: 0, data })
            }
            (Some((at, packet)), _) if *at <= now => Some(packet.clone()),
            _ => None,
        }
    }

    /// The next packet that is not a request and may leave.
    pub fn pop_answer(&mut self, now: Cycle) -> Option<Packet> {
        self.next_answer(now)?;
        self.answers.pop()
    }

    /// The packet that [`Outbox::pop_answer`] would give.
    pub fn next_answer(&self, now: Cycle) -> Option<&Packet> {
        self.answers.packets.front().filter(|(at, _)| *at <= now).map(|(_, packet)| packet)
    }

    /// When the next packet may leave.
    pub fn next(&self) -> Cycle {
        let first = |queue: &Queue| queue.packets.front().map_or(Cycle::NEVER, |(at, _)| *at);
        let registration = self.registrations.front().map_or(Cycle::NEVER, |(at, ..)| at);
        first(&self.reads).min(first(&self.answers)).min(registration)
    }
}

/// Words written back until the registry has answered, by stash-map entry and physical address.
#[derive(Debug)]
pub struct WritebackBuffer {
    words: HashMap<(u8, u64), u32>,
}

impl WritebackBuffer {
    /// An empty buffer that has room for a stash of `words` words.
    pub fn new(words: usize) -> WritebackBuffer {
        WritebackBuffer { words: HashMap::with_capacity(words) }
    }

    /// A word leaves.
    pub fn insert(&mut self, map: u8, address: u64, value: u32) {
        let before = self.words.insert((map, address), value);
        assert!(before.is_none(), "a word is written back once at a time");
    }

    /// The word, if it is under way.
    pub fn get(&self, map: u8, address: u64) -> Option<u32> {
        self.words.get(&(map, address)).copied()
    }

    /// The registry has it.
    pub fn remove(&mut self, map: u8, address: u64) {
        self.words.remove(&(map, address));
    }

    /// Whether words of a stash-map entry are under way.
    pub fn has(&self, map: u8) -> bool {
        self.words.keys().any(|(other, _)| *other == map)
    }

    /// The words under way, in no order: stash-map entry and physical address of each.
    pub fn each(&self) -> impl Iterator<Item = (u8, u64)> {
        self.words.keys().copied()
    }

    /// Number of words under way.
    pub fn len(&self) -> usize {
        self.words.len()
    }
}
