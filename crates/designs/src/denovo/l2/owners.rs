//! Words that have owners: who they are, what is sent to them, and what they say.

use strata_engine::Cycle;
use strata_memory::cache::FrameId;
use strata_memory::ownership::{Letter, Message, Owner, bytes_of, words_of};
use strata_memory::packets::{open_loose, write_loose};
use strata_memory::tray::{put_loose, take_loose};
use strata_memory::{Body, Contents, Level, Line as Bytes, LineAddress, NodeId, Origin, Tray};

use super::DenovoL2;
use crate::denovo::{Line, RegistryAction, RegistryEvent, Slot, registry_transition};

impl DenovoL2 {
    /// The owners of some words of a frame, each with its words.
    pub(super) fn owners(&self, frame: FrameId, words: u32) -> impl Iterator<Item = (Owner, u32)> + use<'_> {
        let mut left = words & self.protocol.owned[frame.index()];
        let data = self.cache.frames().data(frame);
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let name = slot(data, left.trailing_zeros());
            let same =
                members(left).filter(|word| slot(data, *word) == name).fold(0, |set, word| set | 1 << word);
            left &= !same;
            let owner = Owner::decode(name).unwrap_or_else(|| unreachable!("{name:#x} names no owner"));
            Some((owner, same))
        })
    }

    /// Writes an owner's name into slots.
    pub(super) fn name(&mut self, frame: FrameId, words: u32, owner: Owner) {
        let name = owner.encode().to_le_bytes();
        let data = self.cache.frames_mut().data_mut(frame);
        members(words).for_each(|word| data.0[4 * word as usize..][..4].copy_from_slice(&name));
        self.protocol.owned[frame.index()] |= words;
        self.protocol.statistics.names_written += u64::from(words.count_ones());
    }

    /// The state of a line that has a frame.
    pub(super) fn state(&self, frame: FrameId) -> Line {
        if self.protocol.evicting == Some(frame) {
            return Line::Evicting;
        }
        match self.cache.frames().pinned(frame).map(|mshr| self.cache.mshrs.state(mshr)) {
            Some(fetch) if fetch.in_flight > 0 => Line::Fetching,
            Some(fetch) if fetch.rest != 0 => Line::Recalling,
            _ => Line::Present,
        }
    }

    /// Recalls words from their owners. There must be room for a packet for each. Returns how many there are.
    pub(super) fn recall(&mut self, frame: FrameId, words: u32, at: Cycle) -> u64 {
        let line = self.cache.frames().line(frame).expect("an owned word belongs to a line");
        let mut left = words & self.protocol.owned[frame.index()];
        let mut recalls = 0;
        while left != 0 {
            let (owner, words) = self.owners(frame, left).next().expect("a word is left");
            left &= !words;
            recalls += 1;
            let letter = Letter { message: Message::Recall, place: owner.place, requester: owner };
            self.send_to_owner(line, (owner, words), (letter, Some(take_loose())), true, at);
        }
        recalls
    }

    /// Sends a letter about its words to an owner.
    pub(super) fn send_to_owner(
        &mut self,
        line: LineAddress,
        (owner, words): (Owner, u32),
        (letter, tray): (Letter, Option<Tray>),
        is_further: bool,
        at: Cycle,
    ) {
        let packet = write_loose(Contents {
            line,
            bytes: bytes_of(words),
            source: self.protocol.node,
            destination: NodeId(owner.node.into()),
            client: owner.place.client(),
            tag: 0,
            origin: Origin::default(),
            level: Level::default(),
            body: Body::Owned(letter, tray),
        });
        self.say(packet, is_further, at);
    }

    /// Takes up what an owner said first. There must be room for an answer.
    pub(super) fn take_said(&mut self, now: Cycle) {
        let Some(mut packet) = self.protocol.said.pop_front() else { return };
        let Body::Owned(letter, tray) = &mut packet.body else {
            unreachable!("owners speak of their words: {packet:?}")
        };
        let (message, sender) = (letter.message, letter.requester);
        let tray = tray.take().expect("an owner sends its words in a tray");
        let words = words_of(packet.bytes);
        let event = match message {
            Message::WriteBack => RegistryEvent::WriteBack,
            Message::Return => RegistryEvent::Return,
            other => unreachable!("an owner says {other:?} to a requester"),
        };
        let stored = self.store_owned(packet.line, words, event, sender, &tray);
        if message == Message::Return {
            self.protocol.statistics.returned_words += u64::from(stored.count_ones());
            put_loose(tray);
            open_loose(packet);
        } else {
            self.protocol.statistics.write_backs += 1;
            self.protocol.statistics.written_back_words += u64::from(stored.count_ones());
            self.protocol.statistics.dropped_words += u64::from((words & !stored).count_ones());
            (packet.source, packet.destination) = (packet.destination, packet.source);
            let letter = Letter { message: Message::WrittenBack, place: sender.place, requester: sender };
            packet.body = Body::Owned(letter, Some(tray));
            self.say(packet, true, now + self.parameters.hit_latency);
        }
    }

    /// Puts the words of which `sender` is the owner into their slots. Returns them.
    fn store_owned(
        &mut self,
        line: LineAddress,
        words: u32,
        event: RegistryEvent,
        sender: Owner,
        data: &Bytes,
    ) -> u32 {
        let frame = self.cache.store.find(line);
        let state = frame.map_or(Line::Absent, |frame| self.state(frame));
        let mut stored = 0;
        for word in members(words) {
            let slot = frame.map_or(Slot::Data, |frame| self.slot(frame, word));
            let Some((_, action)) = registry_transition(state, slot, event, sender) else {
                panic!(
                    "{sender} says {event:?} of word {word} of a line that is {state:?}, whose slot has {slot:?}"
                );
            };
            if matches!(action, RegistryAction::StoreAndAnswer | RegistryAction::Store) {
                stored |= 1 << word;
            }
        }
        if let (Some(frame), 1..) = (frame, stored) {
            self.cache.frames_mut().data_mut(frame).merge(bytes_of(stored), data);
            self.protocol.owned[frame.index()] &= !stored;
            self.cache.frames_mut().add_dirty(frame, bytes_of(stored));
            self.statistics.data_writes += 1;
            self.end_recall(frame);
        }
        stored
    }

    /// Lets the requests of a line go on when all words that were recalled for them are back.
    fn end_recall(&mut self, frame: FrameId) {
        let Some(mshr) = self.cache.frames().pinned(frame) else { return };
        let fetch = self.cache.mshrs.state_mut(mshr);
        if fetch.rest != 0 && fetch.rest & self.protocol.owned[frame.index()] == 0 {
            fetch.rest = 0;
            self.cache.make_ready(mshr);
        }
    }

    fn slot(&self, frame: FrameId, word: u32) -> Slot {
        if self.protocol.owned[frame.index()] >> word & 1 == 0 {
            return Slot::Data;
        }
        let name = slot(self.cache.frames().data(frame), word);
        Slot::Owned(Owner::decode(name).unwrap_or_else(|| unreachable!("{name:#x} names no owner")))
    }
}

/// The members of a set of words, lowest first.
pub(super) fn members(mut words: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = words.trailing_zeros();
        (words != 0).then(|| {
            words &= words - 1;
            lowest
        })
    })
}

fn slot(line: &Bytes, word: u32) -> u32 {
    let bytes = &line.0[4 * word as usize..][..4];
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
