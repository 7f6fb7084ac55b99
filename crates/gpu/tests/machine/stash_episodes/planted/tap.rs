//! What goes in and out of a private memory or a slice of the L2, spoilt.

use std::collections::{BTreeMap, VecDeque};

use strata_engine::Cycle;
use strata_memory::ownership::{Letter, Message, Place, words_of};
use strata_memory::{Body, ByteMask, Contents, Line, LineAddress, Origin, Packet};

/// What a part does wrong; most bugs strike only now and then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// Nothing is wrong: the control.
    None,
    /// A registration does not reach the registry; its sender believes that it has.
    RegistrationLost,
    /// The same of what is written back.
    WritebackLost,
    /// A stash writes words back under another entry of its stash-map.
    WritebackOfOtherMap,
    /// A remote request finds the word beside the one that is meant.
    WrongReverseTranslation,
    /// A remote request is answered with what the word held at the first request.
    OldAnswer,
    /// A word that another has registered stays where it was, to be used again.
    StaleReuse,
    /// A coherent mapping is taken for a non-coherent one.
    NeverCoherent,
    /// A non-coherent mapping is taken for a coherent one.
    AlwaysCoherent,
    /// The rows of a tile begin a word too late.
    WrongTranslation,
    /// Synchronisation keeps copies.
    SelfInvalidationMissed,
    /// The L2 evicts a line, or works on it, without the words that others have.
    RecallMissing,
    /// The L2 sends the names of owners along as data.
    NamesSent,
    /// One message of this kind vanishes.
    Swallowed(Message),
}

/// A packet that a part sends, as the bug has it.
pub enum Sent {
    /// It leaves.
    Leaves(Packet),
    /// It does not, and the part gets this instead of an answer.
    Answered(Packet),
    /// It is lost.
    Lost,
}

/// A packet that comes to a part, as the bug has it.
pub enum Came {
    /// The part gets it.
    Comes(Packet),
    /// The part does not, and this leaves for the network of owners.
    AnsweredFor(Packet),
}

/// The bug at one part.
pub struct Tap {
    bug: Bug,
    /// It strikes once in this many opportunities.
    period: u32,
    chances: u32,
    /// By line and word, what left first.
    first: BTreeMap<(LineAddress, u32), [u8; 4]>,
    /// Writebacks under way under another entry: line, words, entry and the right one.
    other_maps: Vec<(LineAddress, ByteMask, u8, u8)>,
}

impl Tap {
    pub fn new(bug: Bug, period: u32) -> Tap {
        Tap { bug, period, chances: 0, first: BTreeMap::new(), other_maps: Vec::new() }
    }

    pub fn strikes(&mut self, bug: Bug) -> bool {
        if self.bug != bug {
            return false;
        }
        self.chances += 1;
        // A message vanishes once.
        if matches!(bug, Bug::Swallowed(_)) {
            return self.chances == self.period;
        }
        self.chances.is_multiple_of(self.period)
    }

    /// What becomes of a packet that leaves.
    pub fn sent(&mut self, mut packet: Packet) -> Sent {
        let Body::Owned(letter, tray) = &mut packet.body else { return Sent::Leaves(packet) };
        let message = letter.message;
        if self.strikes(Bug::Swallowed(message)) {
            return Sent::Lost;
        }
        let answered = match message {
            Message::Register => self.strikes(Bug::RegistrationLost).then_some(Message::Granted),
            Message::WriteBack => self.strikes(Bug::WritebackLost).then_some(Message::WrittenBack),
            Message::Recall => self.strikes(Bug::RecallMissing).then_some(Message::Return),
            _ => None,
        };
        if let Some(message) = answered {
            letter.message = message;
            if let Some(tray) = tray.as_mut().filter(|_| message == Message::Return) {
                tray.0 = [0; 128];
            }
            (packet.source, packet.destination) = (packet.destination, packet.source);
            return Sent::Answered(packet);
        }
        match (message, letter.place) {
            (Message::WriteBack, Place::Stash { map }) if self.strikes(Bug::WritebackOfOtherMap) => {
                let other = map ^ 1;
                letter.place = Place::Stash { map: other };
                letter.requester.place = letter.place;
                self.other_maps.push((packet.line, packet.bytes, other, map));
            }
            (Message::Data | Message::Return, _) => {
                let (line, words) = (packet.line, words_of(packet.bytes));
                if let Some(tray) = tray {
                    self.spoil(line, words, tray);
                }
            }
            _ => {}
        }
        if message == Message::Data && self.strikes(Bug::NamesSent) {
            packet.bytes = ByteMask::ALL;
        }
        Sent::Leaves(packet)
    }

    /// Spoils the words of an answer.
    fn spoil(&mut self, line: LineAddress, words: u32, tray: &mut Line) {
        if self.strikes(Bug::WrongReverseTranslation) {
            tray.0.rotate_left(4);
        }
        if self.bug != Bug::OldAnswer {
            return;
        }
        for word in (0..32).filter(|word| words >> word & 1 == 1) {
            let place = &mut tray.0[4 * word as usize..][..4];
            let bytes: [u8; 4] = (&*place).try_into().expect("a word has four bytes");
            place.copy_from_slice(self.first.entry((line, word)).or_insert(bytes));
        }
    }

    /// What becomes of a packet that comes.
    pub fn came(&mut self, mut packet: Packet) -> Came {
        let (line, bytes) = (packet.line, packet.bytes);
        let Body::Owned(letter, _) = &mut packet.body else { return Came::Comes(packet) };
        if let (Message::WrittenBack, Place::Stash { map }) = (letter.message, letter.place) {
            let mut others = self.other_maps.iter();
            if let Some(place) = others.position(|other| (other.0, other.1, other.2) == (line, bytes, map)) {
                letter.place = Place::Stash { map: self.other_maps.swap_remove(place).3 };
            }
        }
        if letter.message != Message::ForwardRegister || !self.strikes(Bug::StaleReuse) {
            return Came::Comes(packet);
        }
        let requester = letter.requester;
        let granted = Letter { message: Message::Granted, place: requester.place, requester };
        let destination = strata_memory::NodeId(requester.node.into());
        let (source, client) = (packet.destination, requester.place.client());
        let body = Body::Owned(granted, None);
        *packet =
            Contents { source, destination, client, tag: 0, origin: Origin::default(), body, ..*packet };
        Came::AnsweredFor(packet)
    }

    /// Whether a coherent mapping is one to the part.
    pub fn coherence(&mut self, is_coherent: bool) -> bool {
        if is_coherent { !self.strikes(Bug::NeverCoherent) } else { self.strikes(Bug::AlwaysCoherent) }
    }
}

/// Packets between a part and the network.
#[derive(Default)]
pub struct Staged {
    pub requests: VecDeque<Packet>,
    pub answers: VecDeque<Packet>,
    /// For the part itself.
    back: VecDeque<Packet>,
}

impl Staged {
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.answers.is_empty() && self.back.is_empty()
    }

    pub fn len(&self) -> usize {
        self.requests.len() + self.answers.len() + self.back.len()
    }

    /// Stages what a part sends; `is_request` says by which network.
    pub fn take(&mut self, packet: Packet, is_request: bool, tap: &mut Tap) {
        match tap.sent(packet) {
            Sent::Leaves(packet) if is_request => self.requests.push_back(packet),
            Sent::Leaves(packet) => self.answers.push_back(packet),
            Sent::Answered(packet) => self.back.push_back(packet),
            Sent::Lost => {}
        }
    }

    /// What comes back to the part.
    pub fn back(&mut self) -> Option<Packet> {
        self.back.pop_front()
    }

    /// When something of it moves.
    pub fn next_event(&self, inner: Cycle, now: Cycle) -> Cycle {
        if self.is_empty() { inner } else { now }
    }
}
