//! A registry of the stash's own, for machines whose L1D and LLC know no owners ([`Coherence::Boundaries`]). It knows which of this
//! stash's mappings has each word, runs the registry's table over lines that are always there, and reads and writes memory by
//! accesses that go past the L1D.
//!
//! [`Coherence::Boundaries`]: strata_memory::doors::Coherence::Boundaries

use std::collections::{HashMap, VecDeque};

use strata_engine::{Cycle, Slab};
use strata_memory::doors::{LaneAccess, LaneCause};
use strata_memory::ownership::bytes_of;
use strata_memory::{LineAddress, Tray, Trays};

use crate::denovo::{
    Line, Message, Owner, RegistryAction, RegistryEvent, Slot, registry_transition as transition,
};
use crate::stash::port::{LINE_WORDS, Packet, Receiver};
use crate::stash::unit::Stash;

/// Whose words are whose, and what is asked of memory.
#[derive(Debug)]
pub struct OwnRegistry {
    /// By physical address, the words that a mapping has registered.
    owners: HashMap<u64, Owner>,
    /// Requests of which no access was made yet, in order.
    waiting: VecDeque<Packet>,
    /// By token: requests whose access is under way.
    under_way: Slab<Packet>,
    trays: Trays,
}

impl OwnRegistry {
    /// No words are owned; at most `accesses` are under way.
    pub fn new(accesses: usize) -> OwnRegistry {
        OwnRegistry {
            owners: HashMap::new(),
            waiting: VecDeque::new(),
            under_way: Slab::new(accesses),
            trays: Trays::new(accesses),
        }
    }

    /// Takes what leaves the stash at `now`. Returns whether the stash has been answered.
    pub fn serve(&mut self, stash: &mut Stash, now: Cycle) -> bool {
        let mut answered = false;
        while let Some(packet) = stash.answer(now).or_else(|| stash.outgoing(now)) {
            answered |= match packet.to {
                Receiver::Registry => self.receive(packet, stash, now),
                // From one of its mappings to another.
                Receiver::Memory(_) => {
                    stash.accept(&packet, now);
                    true
                }
            };
        }
        answered
    }

    /// Whether an access can be made.
    pub fn has_access(&self) -> bool {
        !self.waiting.is_empty() && !self.under_way.is_full()
    }

    /// Makes the next access.
    pub fn access(&mut self) -> Option<LaneAccess> {
        if !self.has_access() {
            return None;
        }
        let packet = self.waiting.pop_front()?;
        let writes = packet.message == Message::WriteBack;
        let mut tray = self.trays.take();
        if writes {
            for (bytes, word) in tray.0.chunks_exact_mut(4).zip(packet.data) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
        let (line, bytes) = (LineAddress(packet.line), bytes_of(packet.words | packet.along));
        let token = self.under_way.insert(packet).expect("there is room for the access");
        let cause = LaneCause { pc: 0, warp: 0 };
        Some(LaneAccess { token, cause, line, bytes, writes, tray })
    }

    /// An access has been performed: its tray comes back.
    pub fn performed(&mut self, stash: &mut Stash, token: u32, tray: Tray, now: Cycle) {
        let mut packet = self.under_way.remove(token);
        packet.to = Receiver::Memory(packet.owner);
        packet.message = match packet.message {
            Message::WriteBack => Message::WrittenBack,
            _ => {
                for (word, bytes) in packet.data.iter_mut().zip(tray.0.chunks_exact(4)) {
                    *word = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
                }
                Message::Data
            }
        };
        self.trays.put(tray);
        stash.accept(&packet, now);
    }

    /// A request arrives. Returns whether the stash has been answered.
    fn receive(&mut self, packet: Packet, stash: &mut Stash, now: Cycle) -> bool {
        let event = match packet.message {
            Message::Read => RegistryEvent::Read,
            Message::Register => RegistryEvent::Register,
            Message::WriteBack => RegistryEvent::WriteBack,
            message => unreachable!("nobody recalls words, and whole words are written: {message:?}"),
        };
        if event != RegistryEvent::Read {
            self.leave_behind(packet.line, packet.words);
        }
        let (mut granted, mut dropped, mut memory) = (0, 0, 0);
        let mut answered = false;
        for (address, _) in packet.each() {
            let bit = 1 << (address / 4 % LINE_WORDS);
            let slot = self.owners.get(&address).map_or(Slot::Data, |owner| Slot::Owned(*owner));
            let (after, action) = transition(Line::Present, slot, event, packet.owner).unwrap_or_else(|| {
                panic!("{event:?} of {address:#x} by {:?}, which is {slot:?}", packet.owner)
            });
            match after {
                Slot::Data => self.owners.remove(&address),
                Slot::Owned(owner) => self.owners.insert(address, owner),
            };
            match action {
                RegistryAction::Supply | RegistryAction::StoreAndAnswer => memory |= bit,
                RegistryAction::Grant => granted |= bit,
                RegistryAction::DropAndAnswer => dropped |= bit,
                RegistryAction::ForwardRead(owner) => {
                    stash.accept(&tell(&packet, Message::ForwardRead, owner, bit), now);
                    answered = true;
                }
                RegistryAction::ForwardRegister(owner) => {
                    stash.accept(&tell(&packet, Message::ForwardRegister, owner, bit), now);
                    answered = true;
                }
                action => unreachable!("every line is here: {action:?}"),
            }
        }
        for (message, words) in [(Message::Granted, granted), (Message::WrittenBack, dropped)] {
            if words != 0 {
                stash.accept(&tell(&packet, message, packet.owner, words), now);
                answered = true;
            }
        }
        if memory != 0 {
            let along = self.unowned(packet.line, packet.along);
            self.waiting.push_back(Packet { words: memory, along, ..packet });
        }
        answered
    }

    /// Those of a line's words that no mapping has registered.
    fn unowned(&self, line: u64, words: u32) -> u32 {
        let is_free = |word: &u64| !self.owners.contains_key(&((line * LINE_WORDS + word) * 4));
        let words = (0..LINE_WORDS).filter(|word| words >> word & 1 == 1);
        words.filter(is_free).fold(0, |free, word| free | 1 << word)
    }

    /// Words are written: what reads would bring along of them is old.
    fn leave_behind(&mut self, line: u64, words: u32) {
        let brings = |packet: &Packet| packet.line == line && packet.along & words != 0;
        for packet in self.waiting.iter_mut().filter(|packet| brings(packet)) {
            packet.along &= !words;
        }
        let next = |under_way: &Slab<Packet>| {
            let found = under_way.iter().find(|(_, packet)| brings(packet));
            found.map(|(token, _)| token)
        };
        while let Some(token) = next(&self.under_way) {
            self.under_way.get_mut(token).along &= !words;
        }
    }
}

/// What the registry says to an owner of words of a request.
fn tell(request: &Packet, message: Message, owner: Owner, words: u32) -> Packet {
    Packet { message, to: Receiver::Memory(owner), owner, words, along: 0, ..request.clone() }
}
