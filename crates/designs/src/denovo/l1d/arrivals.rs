//! What arrives: replies, what the registry sends on from others, and recalls.

use strata_engine::Cycle;
use strata_memory::cache::{Cache, FrameId, Store};
use strata_memory::doors::{Action as CoreAction, Completion, L1d};
use strata_memory::mshr::MshrId;
use strata_memory::ownership::{Letter, Message, bytes_of, words_of};
use strata_memory::packets::{open_loose, write_loose};
use strata_memory::tray::{put_loose, take_loose};
use strata_memory::{Body, ByteMask, Client, Contents, Level, Line, LineAddress, NodeId, Origin, Tray};

use super::block::Block;
use super::cache::{Banks, DenovoL1d};
use crate::denovo::words::{Flights, Outcome, Words, apply};
use crate::denovo::{Action, Event};

/// A block of which a packet speaks.
#[derive(Clone, Copy, Debug)]
struct Place {
    block: Block,
    frame: Option<FrameId>,
    mshr: Option<MshrId>,
    words: Words,
    flights: Flights,
}

impl DenovoL1d {
    /// Takes up what has arrived, in order, until a bank is needed twice.
    pub(super) fn take_arrivals(&mut self, now: Cycle) {
        let mut banks = Banks::new(self.accesses_per_cycle());
        for _ in 0..self.accesses_per_cycle() {
            let Some(packet) = self.arrived.front() else { return };
            let blocks = self.blocks.parts(packet.line, words_of(packet.bytes));
            let waits = match &packet.body {
                Body::Owned(..) => !self.has_answer_room(),
                _ => self.served.is_full(),
            };
            if waits || blocks.clone().any(|(block, _)| !banks.is_free(block, now)) {
                return;
            }
            blocks.for_each(|(block, _)| banks.take(block, now));
            self.take_arrival(now);
        }
    }

    fn take_arrival(&mut self, now: Cycle) {
        let Some(packet) = self.arrived.pop_front() else { return };
        let (line, bytes, tag) = (packet.line, packet.bytes, packet.tag);
        match open_loose(packet) {
            Body::WriteAck(tray) => {
                self.bypass_trays.put(tray);
                self.writes_in_flight -= 1;
            }
            Body::ReadReply(tray) => self.finish_past(tag, CoreAction::Load(tray), now),
            Body::AtomicReply(batch) => self.finish_past(tag, CoreAction::Atomic(batch), now),
            Body::Owned(letter, tray) => self.take_letter(line, bytes, tag, (letter, tray), now),
            body => unreachable!("an L1D gets no requests but those of the registry: {body:?}"),
        }
    }

    fn finish_past(&mut self, tag: u32, action: CoreAction, now: Cycle) {
        let token = self.bypasses.remove(tag);
        let full = self.served.push(now + self.latency.fill, Completion { token, action });
        full.expect("room for a served access was checked");
    }

    fn take_letter(
        &mut self,
        line: LineAddress,
        bytes: ByteMask,
        tag: u32,
        (letter, tray): (Letter, Option<Tray>),
        now: Cycle,
    ) {
        let words = words_of(bytes);
        match letter.message {
            Message::Data => self.filled(self.place(line, words), words, tag, tray),
            Message::Granted => self.granted(self.place(line, words), words),
            Message::WrittenBack => self.written_back_is_there(self.place(line, words), words, tag, tray),
            _ => self.requested_of_line(line, words, (letter, tray), now),
        }
    }

    fn place(&self, line: LineAddress, words: u32) -> Place {
        let block = self.blocks.of(line, words);
        let (frame, mshr) = (self.cache.store.find(block.name()), self.cache.mshrs.find(block.name()));
        let words = frame.map_or(Words::default(), |frame| self.words[frame.index()]);
        let mut flights = mshr.map_or(Flights::default(), |mshr| self.cache.mshrs.state(mshr).rest.flights);
        flights.write_back = self.written_back(block);
        Place { block, frame, mshr, words, flights }
    }

    fn look_up(&self, place: &Place, message: Message, words: u32) -> Outcome {
        let outcome = apply(place.words, place.flights, Event::Arrives(message), words);
        outcome.unwrap_or_else(|word| {
            panic!(
                "L1D {}: {message:?} for line {line}, where the table has no line for {word:?}",
                self.node.0,
                line = self.blocks.line(place.block),
            )
        })
    }

    /// Keeps what an event has made of a block.
    fn put(&mut self, place: &Place, outcome: &Outcome) {
        if let Some(frame) = place.frame {
            self.words[frame.index()] = outcome.words;
        }
        if let Some(mshr) = place.mshr {
            self.cache.mshrs.state_mut(mshr).rest.flights = Flights { write_back: 0, ..outcome.flights };
        }
    }

    /// The block's words have come, those asked for and others.
    fn filled(&mut self, mut place: Place, words: u32, asked: u32, tray: Option<Tray>) {
        let tray = tray.expect("data come in a tray");
        let answer = self.look_up(&place, Message::Data, words & asked);
        (place.words, place.flights) = (answer.words, answer.flights);
        let extra = apply(place.words, place.flights, Event::Extra, words & !asked);
        let extra = extra.unwrap_or_else(|word| unreachable!("words may always come along: {word:?}"));
        self.put(&place, &extra);
        let (Some(frame), Some(mshr)) = (place.frame, place.mshr) else {
            unreachable!("a block that is waited for has a frame and an MSHR")
        };
        let completed = bytes_of(answer.with(Action::Complete));
        let taken = bytes_of(answer.with(Action::Fill) | extra.with(Action::Fill)) | completed;
        let Cache { store, mshrs, .. } = &mut self.cache;
        let miss = &mut mshrs.state_mut(mshr).rest;
        store.frames_mut().data_mut(frame).merge(taken & !(miss.written & completed), &tray);
        miss.written &= !completed;
        self.statistics.fill_bytes += u64::from(words.count_ones()) * 4;
        self.statistics.data_writes += 1;
        // Words from several owners come in several packets.
        if miss.trays > 0 {
            miss.trays -= 1;
            self.statistics.fills += 1;
            self.read_trays.put(tray);
        } else {
            put_loose(tray);
        }
        if !completed.is_empty() {
            self.take_up_aside(self.blocks.line(place.block));
        }
        self.cache.make_ready(mshr);
    }

    /// What was set aside about a line is taken up again, before what came later.
    fn take_up_aside(&mut self, line: LineAddress) {
        for place in (0..self.aside.len()).rev() {
            if self.aside[place].line == line
                && let Some(packet) = self.aside.remove(place)
            {
                self.arrived.push_front(packet);
            }
        }
    }

    fn granted(&mut self, place: Place, words: u32) {
        let outcome = self.look_up(&place, Message::Granted, words);
        self.put(&place, &outcome);
        self.cache.make_ready(place.mshr.expect("a registration has an MSHR"));
    }

    fn written_back_is_there(&mut self, place: Place, words: u32, entry: u32, tray: Option<Tray>) {
        let outcome = self.look_up(&place, Message::WrittenBack, words);
        debug_assert_eq!(outcome.with(Action::Release), words, "a buffer is freed once");
        self.buffers.remove(entry);
        self.cache.written(tray.expect("the tray comes back"));
        if let Some(mshr) = place.mshr {
            self.cache.make_ready(mshr);
        }
    }

    /// Another wants words of a line, or the registry wants them back. Each block answers by itself.
    fn requested_of_line(
        &mut self,
        line: LineAddress,
        words: u32,
        (letter, mut tray): (Letter, Option<Tray>),
        now: Cycle,
    ) {
        let has_tray = tray.is_some();
        for (_, words) in self.blocks.parts(line, words) {
            let tray = has_tray.then(|| tray.take().unwrap_or_else(take_loose));
            self.requested(line, words, (letter, tray), now);
        }
    }

    fn requested(
        &mut self,
        line: LineAddress,
        words: u32,
        (letter, tray): (Letter, Option<Tray>),
        now: Cycle,
    ) {
        let place = self.place(line, words);
        let outcome = self.look_up(&place, letter.message, words);
        let aside = outcome.with(Action::SetAside);
        if aside != 0 {
            return self.set_aside(line, (words, aside), (letter, tray), now);
        }
        self.put(&place, &outcome);
        self.coherence.remote_requests += 1;
        let (buffered, supplied) = (outcome.with(Action::SupplyBuffered), outcome.with(Action::Supply));
        let given_up = words & place.words.registered & !outcome.words.registered;
        let Letter { message, requester, .. } = letter;
        let (answer, answered) = match message {
            Message::Recall => (Message::Return, outcome.with(Action::Return)),
            Message::ForwardRegister => (Message::Granted, outcome.with(Action::Yield)),
            _ => (Message::Data, supplied | buffered),
        };
        *match answer {
            Message::Return => &mut self.coherence.returned_words,
            _ if message == Message::ForwardRead => &mut self.coherence.supplied_words,
            _ => &mut self.coherence.yielded_words,
        } += u64::from(answered.count_ones());
        self.drop_empty(&place, given_up);
        if answered == 0 {
            tray.into_iter().for_each(put_loose);
            return;
        }
        let tray = tray.map(|tray| self.fill_tray(&place, tray, buffered));
        let (destination, to) = match answer {
            Message::Return => (self.home_of(line), self.me),
            _ => (NodeId(requester.node.into()), requester),
        };
        let packet = write_loose(Contents {
            line,
            bytes: bytes_of(answered),
            source: self.node,
            destination,
            client: to.place.client(),
            tag: answered,
            origin: Origin::default(),
            level: Level::default(),
            body: Body::Owned(Letter { message: answer, place: to.place, requester: to }, tray),
        });
        self.say(packet, now + self.latency.remote);
    }

    /// Puts the words that are partly written aside, and does what the message says with the others.
    fn set_aside(
        &mut self,
        line: LineAddress,
        (words, aside): (u32, u32),
        (letter, tray): (Letter, Option<Tray>),
        now: Cycle,
    ) {
        self.coherence.set_aside += 1;
        let rest = words & !aside;
        let tray_for_rest = tray.as_ref().filter(|_| rest != 0).map(|_| take_loose());
        let body = Body::Owned(letter, tray);
        let (source, destination) = (self.home_of(line), self.node);
        let (bytes, client) = (bytes_of(aside), Client::L1d);
        self.aside.push_back(write_loose(Contents {
            line,
            bytes,
            source,
            destination,
            client,
            tag: 0,
            origin: Origin::default(),
            level: Level::default(),
            body,
        }));
        if rest != 0 {
            self.requested(line, rest, (letter, tray_for_rest), now);
        }
    }

    /// A tray with the bytes of a block here, and with those of words that are written back.
    fn fill_tray(&mut self, place: &Place, mut tray: Tray, buffered: u32) -> Tray {
        if let Some(frame) = place.frame {
            tray.0 = self.cache.frames().data(frame).0;
            self.statistics.data_reads += 1;
        }
        if buffered != 0 {
            for (_, entry) in self.buffers.iter().filter(|(_, entry)| entry.block == place.block) {
                let data: &Line = &entry.data;
                tray.merge(bytes_of(entry.words & buffered), data);
            }
        }
        tray
    }

    /// Frees the frame of a block of which nothing is left here.
    fn drop_empty(&mut self, place: &Place, given_up: u32) {
        if let (Some(frame), None) = (place.frame, place.mshr)
            && given_up != 0
            && self.words[frame.index()].here() == 0
        {
            self.cache.store.invalidate(frame);
        }
    }
}
