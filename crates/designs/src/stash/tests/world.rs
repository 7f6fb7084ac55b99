//! What stands around a stash in tests: a plain memory that is the registry, a CPU, and a network in order.

use std::collections::{HashMap, VecDeque};

use strata_engine::Cycle;

use super::super::{Access, LINE_WORDS, Packet, Receiver, Stash, StashConfig};
use crate::denovo::{
    Line, Message, Owner, Place, RegistryAction, RegistryEvent, Slot, registry_transition as transition,
};

/// The CPU's cache: it writes back at once what it writes.
pub const CPU: Owner = Owner { node: 0, place: Place::Cache };

/// Pseudo-random numbers.
pub struct Random(pub u64);

impl Random {
    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

#[derive(Clone)]
struct Word {
    value: u32,
    slot: Slot,
    line: Line,
    deferred: VecDeque<(RegistryEvent, Owner)>,
}

/// A stash and its world.
pub struct World {
    pub stash: Stash,
    pub now: Cycle,
    pub random: Random,
    words: HashMap<u64, Word>,
    to_stash: VecDeque<(Cycle, Packet)>,
    /// What the CPU got last: data, or the right to write.
    cpu: Option<u32>,
    /// Words recalled for no reason, of so many sent.
    pub recalls: u64,
}

impl World {
    /// An empty stash; memory has in each word its address.
    pub fn new(config: &StashConfig, seed: u64) -> World {
        World {
            stash: Stash::new(config, 1),
            now: Cycle(0),
            random: Random(seed),
            words: HashMap::new(),
            to_stash: VecDeque::new(),
            cpu: None,
            recalls: 0,
        }
    }

    /// A cycle: packets move. Returns an access that is done.
    pub fn tick(&mut self) -> Option<Access> {
        self.now += 1;
        while self.to_stash.front().is_some_and(|(at, _)| *at <= self.now) {
            let (_, packet) = self.to_stash.pop_front().expect("it is there");
            self.stash.accept(&packet, self.now);
        }
        while let Some(packet) = self.stash.answer(self.now).or_else(|| self.stash.outgoing(self.now)) {
            self.receive(&packet);
        }
        self.stash.completed(self.now)
    }

    /// Whether nothing is under way.
    pub fn is_quiet(&self) -> bool {
        !self.stash.is_missing()
            && self.stash.writing_back() == 0
            && self.to_stash.is_empty()
            && self.stash.next_event(self.now) == Cycle::NEVER
    }

    fn word(&mut self, address: u64) -> &mut Word {
        let value = address as u32;
        let deferred = VecDeque::new();
        self.words.entry(address).or_insert(Word { value, slot: Slot::Data, line: Line::Present, deferred })
    }

    fn receive(&mut self, packet: &Packet) {
        for (address, value) in packet.each() {
            let event = match (packet.to, packet.message) {
                (Receiver::Registry, Message::Read) => RegistryEvent::Read,
                (Receiver::Registry, Message::Register) => RegistryEvent::Register,
                (Receiver::Registry, Message::WriteBack) => RegistryEvent::WriteBack,
                (Receiver::Registry, Message::Return) => RegistryEvent::Return,
                (Receiver::Memory(CPU), Message::Data | Message::Granted) => {
                    self.cpu = Some(value);
                    continue;
                }
                (Receiver::Memory(owner), message) => {
                    self.send(message, owner, owner, address, value);
                    continue;
                }
                (to, message) => panic!("{message:?} to {to:?}"),
            };
            self.registry(event, packet.owner, address, value);
        }
        if packet.message == Message::Read {
            self.send_along(packet);
        }
    }

    /// Adds the words that a read would take along to the first answer that is on its way, unless they have owners.
    fn send_along(&mut self, read: &Packet) {
        for (address, _) in read.each_along() {
            let Word { value, slot, line, .. } = *self.word(address);
            let answers = |(_, packet): &&mut (Cycle, Packet)| {
                packet.message == Message::Data && (packet.owner, packet.line) == (read.owner, read.line)
            };
            let answer = self.to_stash.iter_mut().rev().find(answers);
            if let (Slot::Data, Line::Present, Some((_, answer))) = (slot, line, answer) {
                let word = address / 4 % LINE_WORDS;
                answer.along |= 1 << word & !answer.words;
                answer.data[word as usize] = value;
            }
        }
    }

    fn registry(&mut self, event: RegistryEvent, sender: Owner, address: u64, value: u32) {
        let word = self.word(address);
        let (slot, action) = transition(word.line, word.slot, event, sender).expect("the table has a line");
        word.slot = slot;
        let stored = word.value;
        match action {
            RegistryAction::Supply if sender == CPU => self.cpu = Some(stored),
            RegistryAction::Grant if sender == CPU => self.cpu = Some(0),
            RegistryAction::Supply => self.send(Message::Data, sender, sender, address, stored),
            RegistryAction::Grant => self.send(Message::Granted, sender, sender, address, 0),
            RegistryAction::ForwardRead(owner) => self.send(Message::ForwardRead, owner, sender, address, 0),
            RegistryAction::ForwardRegister(owner) => {
                self.send(Message::ForwardRegister, owner, sender, address, 0);
            }
            RegistryAction::StoreAndAnswer => {
                self.word(address).value = value;
                self.answer(sender, address);
                self.evicted(address);
            }
            RegistryAction::DropAndAnswer => self.answer(sender, address),
            RegistryAction::Store => {
                self.word(address).value = value;
                self.evicted(address);
            }
            RegistryAction::Defer => self.word(address).deferred.push_back((event, sender)),
            RegistryAction::FetchAndDefer
            | RegistryAction::ForwardRegisterRead(_)
            | RegistryAction::Perform
            | RegistryAction::RecallAndDefer(_) => {
                unreachable!("every word is here, and whole words are written")
            }
        }
        self.recall(address);
    }

    fn answer(&mut self, sender: Owner, address: u64) {
        if sender != CPU {
            self.send(Message::WrittenBack, sender, sender, address, 0);
        }
    }

    /// Recalls a word now and then.
    fn recall(&mut self, address: u64) {
        if self.recalls == 0 || self.random.below(self.recalls) > 0 {
            return;
        }
        let word = self.word(address);
        if let (Slot::Owned(owner), Line::Present) = (word.slot, word.line)
            && owner != CPU
        {
            word.line = Line::Evicting;
            self.send(Message::Recall, owner, owner, address, 0);
        }
    }

    fn evicted(&mut self, address: u64) {
        let word = self.word(address);
        word.line = Line::Present;
        for (event, sender) in std::mem::take(&mut word.deferred) {
            self.registry(event, sender, address, 0);
        }
    }

    fn send(&mut self, message: Message, owner: Owner, requester: Owner, address: u64, value: u32) {
        let before = self.to_stash.back().map_or(self.now, |(at, _)| *at);
        let at = before.max(self.now + 1 + self.random.below(30));
        let mut data = [0; LINE_WORDS as usize];
        let (line, word) = (address / 4 / LINE_WORDS, address / 4 % LINE_WORDS);
        data[word as usize] = value;
        let to = Receiver::Memory(owner);
        self.to_stash.push_back((
            at,
            Packet { message, to, owner, requester, line, words: 1 << word, along: 0, data },
        ));
    }

    /// The CPU's request, answered.
    fn ask(&mut self, event: RegistryEvent, address: u64) -> u32 {
        self.cpu = None;
        self.registry(event, CPU, address, 0);
        for _ in 0..10_000 {
            if let Some(value) = self.cpu.take() {
                return value;
            }
            assert!(self.tick().is_none(), "no access is under way");
        }
        panic!("nobody answers the CPU for {address:#x}");
    }

    /// The CPU reads a word of physical memory.
    pub fn read(&mut self, address: u64) -> u32 {
        self.ask(RegistryEvent::Read, address)
    }

    /// The CPU writes a word of physical memory.
    pub fn write(&mut self, address: u64, value: u32) {
        self.ask(RegistryEvent::Register, address);
        self.registry(RegistryEvent::WriteBack, CPU, address, value);
    }
}
