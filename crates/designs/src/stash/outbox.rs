//! Packets that leave, and words that are written back and not answered yet.

use std::collections::{HashMap, VecDeque};

use strata_engine::Cycle;

use super::port::{LINE_WORDS, Packet, Receiver};
use crate::denovo::{Message, Owner};

/// Packets of one kind in order, each with the cycle from which it may leave.
#[derive(Debug, Default)]
struct Queue {
    packets: VecDeque<(Cycle, Packet)>,
    /// Packets of the operation under way: the last ones.
    batch: usize,
}

/// What leaves by one of two ways: requests, which the registry may leave waiting, and all else, which is always taken and must
/// not wait for them. Words of one operation that say the same about one line leave in one packet.
#[derive(Debug, Default)]
pub struct Outbox {
    requests: Queue,
    answers: Queue,
}

impl Outbox {
    /// An operation begins.
    pub fn begin(&mut self) {
        (self.requests.batch, self.answers.batch) = (0, 0);
    }

    /// Adds a word to the operation.
    pub fn send(&mut self, at: Cycle, head: (Message, Receiver, Owner, Owner), address: u64, value: u32) {
        let (line, word) = (address / 4 / LINE_WORDS, address / 4 % LINE_WORDS);
        let Queue { packets, batch } = self.queue(head.0.is_request());
        let first = packets.len() - *batch;
        let same = |(_, packet): &&mut (Cycle, Packet)| {
            (packet.message, packet.to, packet.owner, packet.requester) == head && packet.line == line
        };
        let packet = match packets.range_mut(first..).find(same) {
            Some((_, packet)) => packet,
            None => {
                let (message, to, owner, requester) = head;
                let data = [0; LINE_WORDS as usize];
                packets.push_back((at, Packet { message, to, owner, requester, line, words: 0, data }));
                *batch += 1;
                &mut packets.back_mut().expect("it was added just now").1
            }
        };
        packet.words |= 1 << word;
        packet.data[word as usize] = value;
    }

    fn queue(&mut self, of_requests: bool) -> &mut Queue {
        if of_requests { &mut self.requests } else { &mut self.answers }
    }

    /// The next request that may leave, or the next packet that is none.
    pub fn pop(&mut self, is_request: bool, now: Cycle) -> Option<Packet> {
        let ready = self.peek(is_request, now).is_some();
        let queue = self.queue(is_request);
        queue.batch = 0;
        if ready { queue.packets.pop_front().map(|(_, packet)| packet) } else { None }
    }

    /// The packet that [`Outbox::pop`] would give.
    pub fn peek(&self, is_request: bool, now: Cycle) -> Option<&Packet> {
        let queue = if is_request { &self.requests } else { &self.answers };
        queue.packets.front().filter(|(at, _)| *at <= now).map(|(_, packet)| packet)
    }

    /// When the next packet may leave.
    pub fn next(&self) -> Cycle {
        let first = |queue: &Queue| queue.packets.front().map_or(Cycle::NEVER, |(at, _)| *at);
        first(&self.requests).min(first(&self.answers))
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
