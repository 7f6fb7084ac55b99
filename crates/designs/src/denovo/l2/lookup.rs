//! The look-up of requests, and the replay of those that waited for their line.

use strata_engine::Cycle;
use strata_memory::cache::{FrameId, Store};
use strata_memory::mshr::MshrId;
use strata_memory::ownership::{Letter, Message, Owner, bytes_of, words_of};
use strata_memory::packets::{open_loose, write_loose};
use strata_memory::tray::take_loose;
use strata_memory::{Body, ByteMask, Contents, Level, Origin, Packet, Touch};

use super::DenovoL2;
use crate::chassis::llc::{Found, Stall};
use crate::denovo::{Line, RegistryAction, RegistryEvent, Slot, registry_transition};

/// Most packets of one request: one for each word, if each has an owner of its own, and one for those that have none.
pub(super) const MOST_PACKETS: usize = 33;

/// What a request found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The line is here, with all that it needs.
    Hit(FrameId),
    /// The line is here; words that it needs have owners.
    Owned(FrameId),
    /// It has an MSHR: the line was on its way, or is now.
    Waits(MshrId, Found),
}

impl DenovoL2 {
    /// What the next request finds, or why it has to wait. Recalls the words of the line whose place it needs.
    pub(super) fn plan(&mut self, now: Cycle) -> Result<Step, Stall> {
        let request = self.requests.front(now).expect("a request is due");
        let (touch, needed) = (request.touch(), needed_here(request));
        self.protocol.node = request.destination;
        if let Some(frame) = self.protocol.evicting {
            return self.finish_eviction(frame);
        }
        let Some(frame) = self.cache.store.find(touch.line) else { return self.plan_miss(&touch, now) };
        if let Some(mshr) = self.cache.frames().pinned(frame) {
            let can_merge = self.cache.mshrs.can_merge(mshr);
            return if can_merge { Ok(Step::Waits(mshr, Found::Merge)) } else { Err(Stall::Merge) };
        }
        if !self.reply_room(MOST_PACKETS) {
            return Err(Stall::Reply);
        }
        match needed & self.protocol.owned[frame.index()] {
            0 => Ok(Step::Hit(frame)),
            _ if self.cache.mshrs.is_full() => Err(Stall::Mshr),
            _ => Ok(Step::Owned(frame)),
        }
    }

    fn plan_miss(&mut self, touch: &Touch, now: Cycle) -> Result<Step, Stall> {
        let line = touch.line;
        if self.cache.mshrs.is_full() {
            return Err(Stall::Mshr);
        }
        if !self.miss_room(1) {
            return Err(Stall::Dram);
        }
        if !self.cache.store.has_victim(line) {
            return Err(Stall::Ways);
        }
        if !self.reply_room(MOST_PACKETS) {
            return Err(Stall::Reply);
        }
        let victim = self.cache.store.victim(line).expect("a free way was looked for");
        if self.protocol.owned[victim.index()] != 0 {
            let recalls = self.recall(victim, u32::MAX, now + self.parameters.hit_latency);
            self.protocol.statistics.eviction_recalls += recalls;
            self.protocol.evicting = Some(victim);
            return Err(Stall::Own);
        }
        self.evict(victim);
        self.cache.store.install(victim, touch);
        self.statistics.tag_writes += 1;
        let mshr = self.cache.allocate(line, victim);
        self.fetch(mshr, ByteMask::ALL);
        Ok(Step::Waits(mshr, Found::Miss))
    }

    /// Empties the frame once all its words are back. The request is looked up anew in the next cycle.
    fn finish_eviction(&mut self, frame: FrameId) -> Result<Step, Stall> {
        if self.protocol.owned[frame.index()] != 0 {
            return Err(Stall::Own);
        }
        if !self.miss_room(1) {
            return Err(Stall::Dram);
        }
        self.evict(frame);
        self.cache.store.invalidate(frame);
        self.protocol.evicting = None;
        self.look_again();
        Err(Stall::Own)
    }

    /// Recalls the words that the oldest request of an MSHR needs here and that have owners. The MSHR's requests go on when all
    /// are back. There must be room for a packet to each owner.
    fn recall_for(&mut self, mshr: MshrId, words: u32, now: Cycle) {
        let fetch = self.cache.mshrs.state_mut(mshr);
        fetch.rest = words;
        let frame = fetch.frame;
        let recalls = self.recall(frame, words, now + self.parameters.hit_latency);
        self.protocol.statistics.operation_recalls += recalls;
    }

    /// Does what a request has found.
    pub(super) fn go(&mut self, mut request: Packet, step: Step, now: Cycle) {
        let touch = request.touch();
        let mshr = match step {
            Step::Hit(frame) => {
                self.count(&mut request, Found::Hit);
                self.cache.store.used(frame, &touch);
                return self.answer_here(request, frame, now);
            }
            Step::Owned(frame) => {
                self.count(&mut request, Found::Hit);
                self.cache.store.used(frame, &touch);
                let mshr = self.cache.allocate(touch.line, frame);
                let words = needed_here(&request) & self.protocol.owned[frame.index()];
                self.recall_for(mshr, words, now);
                mshr
            }
            Step::Waits(mshr, found) => {
                self.count(&mut request, found);
                mshr
            }
        };
        self.cache.wait(mshr, request);
    }

    /// Serves a request of the first MSHR whose line is here. There must be room for its packets.
    pub(super) fn serve_first(&mut self, now: Cycle) {
        let Some(mshr) = self.cache.first_ready() else { return };
        let frame = self.cache.mshrs.state(mshr).frame;
        if let Some(request) = self.cache.mshrs.front(mshr) {
            let words = needed_here(request) & self.protocol.owned[frame.index()];
            if words != 0 {
                self.cache.settle_first();
                return self.recall_for(mshr, words, now);
            }
            let request = self.cache.mshrs.pop(mshr).expect("the oldest request was looked at");
            self.answer_here(request, frame, now);
        }
        if self.cache.mshrs.waiting(mshr) == 0 {
            self.cache.settle_first();
            self.cache.release(mshr);
        }
    }

    /// Performs a request on a line that is here. There must be room for its packets, and the words of a strong operation have no
    /// owners.
    fn answer_here(&mut self, request: Packet, frame: FrameId, now: Cycle) {
        if matches!(request.body, Body::Owned(..)) {
            return self.serve(request, frame, now + self.parameters.hit_latency);
        }
        let (reply, at) = self.perform(request, frame, now);
        self.say(reply, false, at);
    }

    /// Sends a packet, after those before it. There must be room.
    pub(super) fn say(&mut self, packet: Packet, is_further: bool, at: Cycle) {
        self.protocol.leaving.push_back(is_further);
        self.send(packet, at);
    }

    /// Serves a read or a registration: with what is here, and by sending it on to the owners of the rest.
    fn serve(&mut self, mut request: Packet, frame: FrameId, at: Cycle) {
        let Body::Owned(letter, tray) = &mut request.body else { unreachable!("the caller has looked") };
        let Letter { message, requester, .. } = *letter;
        let mut tray = tray.take();
        let words = words_of(request.bytes);
        let event = match message {
            Message::Read => RegistryEvent::Read,
            Message::Register => RegistryEvent::Register,
            Message::RegisterRead => RegistryEvent::RegisterRead,
            other => unreachable!("{other:?} is not a request"),
        };
        let mut forwards = words & self.protocol.owned[frame.index()];
        let here = words & !forwards;
        let mut is_further = false;
        if here != 0 {
            is_further = true;
            let reply = self.answer(&request, (requester, here, message), frame, tray.take());
            self.say(reply, false, at);
        }
        while forwards != 0 {
            let (owner, theirs) = self.owners(frame, forwards).next().expect("a word is left");
            forwards &= !theirs;
            let tray = (message != Message::Register).then(|| tray.take().unwrap_or_else(take_loose));
            let message = self.forwarded(event, owner, requester);
            let letter = Letter { message, place: owner.place, requester };
            self.send_to_owner(request.line, (owner, theirs), (letter, tray), is_further, at);
            is_further = true;
        }
        if event != RegistryEvent::Read {
            self.protocol.statistics.registrations += 1;
            self.protocol.statistics.registered_words += u64::from(words.count_ones());
            self.name(frame, words, requester);
        }
        open_loose(request);
    }

    /// The answer to a request for words that are here, or the grant. With data come along those words of the line that the
    /// request has named and that are here.
    fn answer(
        &mut self,
        request: &Packet,
        (requester, here, message): (Owner, u32, Message),
        frame: FrameId,
        tray: Option<strata_memory::Tray>,
    ) -> Packet {
        let sends_data = message != Message::Register;
        let named = if message == Message::Read { request.tag } else { 0 };
        let along = named & !self.protocol.owned[frame.index()] & !here;
        let tray = tray.map(|mut tray| {
            tray.0 = self.cache.frames().data(frame).0;
            tray
        });
        self.protocol.statistics.extra_words += u64::from(along.count_ones());
        self.statistics.data_reads += u64::from(sends_data);
        let answer = if sends_data { Message::Data } else { Message::Granted };
        let letter = Letter { message: answer, place: requester.place, requester };
        write_loose(Contents {
            line: request.line,
            bytes: bytes_of(here | along),
            source: request.destination,
            destination: request.source,
            client: request.client,
            tag: here,
            origin: Origin::default(),
            level: Level::default(),
            body: Body::Owned(letter, tray),
        })
    }

    /// What an owner is told of a request.
    fn forwarded(&mut self, event: RegistryEvent, owner: Owner, requester: Owner) -> Message {
        match registry_transition(Line::Present, Slot::Owned(owner), event, requester) {
            Some((_, RegistryAction::ForwardRead(_))) => {
                self.protocol.statistics.forwarded_reads += 1;
                Message::ForwardRead
            }
            Some((_, RegistryAction::ForwardRegister(_))) => {
                self.protocol.statistics.forwarded_registrations += 1;
                Message::ForwardRegister
            }
            Some((_, RegistryAction::ForwardRegisterRead(_))) => {
                self.protocol.statistics.forwarded_registrations += 1;
                Message::ForwardRegisterRead
            }
            step => panic!("{requester} asks for words of {owner}: {event:?} makes {step:?}"),
        }
    }
}

/// Words that a request needs here: those of a strong operation.
fn needed_here(request: &Packet) -> u32 {
    if matches!(request.body, Body::Owned(..)) { 0 } else { words_of(request.bytes) }
}
