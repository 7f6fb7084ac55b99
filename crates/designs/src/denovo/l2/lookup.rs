//! The look-up of requests, and the replay of those that waited for their line.

use strata_engine::Cycle;
use strata_memory::atomic::AtomicBatch;
use strata_memory::mshr::MshrId;
use strata_memory::ownership::{Letter, Message, Owner, bytes_of, words_of};
use strata_memory::packets::{open_loose, write_loose};
use strata_memory::tags::FrameId;
use strata_memory::tray::take_loose;
use strata_memory::{Body, Contents, LineAddress, Packet};

use super::slice::{DenovoL2, Fetch, MOST_PACKETS};
use crate::denovo::{Line, RegistryAction, RegistryEvent, Slot, registry_transition};

/// The reason why a request waits.
#[derive(Clone, Copy, Debug)]
enum Stall {
    Mshr,
    Merge,
    Ways,
    Dram,
    Reply,
    Recall,
}

/// What a request found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Hit,
    /// The line is here; words that it needs have owners.
    Owned,
    Miss,
    Merge,
}

impl DenovoL2 {
    /// Accepts the next request if there is room for everything that follows from it.
    pub(super) fn look_up(&mut self, now: Cycle) {
        let Some(request) = self.requests.front(now) else { return };
        let line = request.line;
        match self.route(line, now) {
            Ok(found) => {
                let request = self.requests.pop(now).expect("the next request was looked at");
                self.count(&request, found);
                self.go(request, line, found, now);
            }
            Err(stall) => {
                *match stall {
                    Stall::Mshr => &mut self.statistics.stalled_mshr,
                    Stall::Merge => &mut self.statistics.stalled_merge,
                    Stall::Ways => &mut self.statistics.stalled_ways,
                    Stall::Dram => &mut self.statistics.stalled_dram,
                    Stall::Reply => &mut self.statistics.stalled_reply,
                    Stall::Recall => &mut self.registry.stalled_recall,
                } += 1;
            }
        }
    }

    /// What the next request finds, or why it has to wait. Recalls the words of the line whose place it needs.
    fn route(&mut self, line: LineAddress, now: Cycle) -> Result<Found, Stall> {
        if let Some(frame) = self.evicting {
            return self.finish_eviction(frame);
        }
        let Some(frame) = self.tags.find(line) else { return self.route_miss(line, now) };
        if let Some(mshr) = self.tags.pinned(frame) {
            return if self.mshrs.can_merge(mshr) { Ok(Found::Merge) } else { Err(Stall::Merge) };
        }
        if !self.has_reply_room() {
            return Err(Stall::Reply);
        }
        let request = self.requests.front(now).expect("the next request was looked at");
        match needed_here(request) & self.owned[frame.index()] {
            0 => Ok(Found::Hit),
            _ if self.mshrs.is_full() => Err(Stall::Mshr),
            _ => Ok(Found::Owned),
        }
    }

    fn route_miss(&mut self, line: LineAddress, now: Cycle) -> Result<Found, Stall> {
        if self.mshrs.is_full() {
            return Err(Stall::Mshr);
        }
        if !self.has_dram_room() {
            return Err(Stall::Dram);
        }
        if !self.tags.has_victim(line) {
            return Err(Stall::Ways);
        }
        if !self.has_reply_room() {
            return Err(Stall::Reply);
        }
        let victim = self.tags.victim(line).expect("a free way was looked for");
        if self.owned[victim.index()] != 0 {
            self.registry.eviction_recalls +=
                self.recall(victim, u32::MAX, now + self.parameters.hit_latency);
            self.evicting = Some(victim);
            return Err(Stall::Recall);
        }
        if self.tags.line(victim).is_some() {
            self.statistics.evictions += 1;
            self.write_back(victim);
        }
        self.tags.install(victim, line);
        self.statistics.tag_writes += 1;
        let mshr = self.mshrs.allocate(line).expect("a free MSHR was looked for");
        *self.mshrs.state_mut(mshr) = Fetch { frame: victim, ..Fetch::default() };
        self.tags.pin(victim, mshr);
        self.fetch(mshr);
        Ok(Found::Miss)
    }

    /// Empties the frame once all its words are back.
    fn finish_eviction(&mut self, frame: FrameId) -> Result<Found, Stall> {
        if self.owned[frame.index()] != 0 {
            return Err(Stall::Recall);
        }
        if !self.has_dram_room() {
            return Err(Stall::Dram);
        }
        self.statistics.evictions += 1;
        self.write_back(frame);
        self.tags.invalidate(frame);
        self.evicting = None;
        Err(Stall::Recall)
    }

    /// Whether all packets of a request have room.
    fn has_reply_room(&self) -> bool {
        self.replies.len() + MOST_PACKETS <= self.parameters.reply_room
    }

    /// Recalls the words that the oldest request of an MSHR needs here and that have owners. The MSHR's requests go on when all
    /// are back. There must be room for a packet to each owner.
    fn recall_for(&mut self, mshr: MshrId, words: u32, now: Cycle) {
        let frame = self.mshrs.state(mshr).frame;
        self.mshrs.state_mut(mshr).recalled = words;
        self.registry.operation_recalls += self.recall(frame, words, now + self.parameters.hit_latency);
    }

    fn go(&mut self, request: Packet, line: LineAddress, found: Found, now: Cycle) {
        if found == Found::Hit {
            let frame = self.tags.find(line).expect("a hit has a frame");
            self.tags.used(frame);
            return self.perform(request, frame, now);
        }
        if found == Found::Owned {
            let frame = self.tags.find(line).expect("an owned word has a frame");
            self.tags.used(frame);
            let words = needed_here(&request) & self.owned[frame.index()];
            let mshr = self.mshrs.allocate(line).expect("a free MSHR was looked for");
            *self.mshrs.state_mut(mshr) = Fetch { frame, is_here: true, recalled: 0 };
            self.tags.pin(frame, mshr);
            self.recall_for(mshr, words, now);
        }
        let mshr = self.mshrs.find(line).expect("it has been allocated");
        self.mshrs.push(mshr, request).expect("room in the MSHR was looked at");
    }

    /// Serves a request of the first MSHR whose line is here.
    pub(super) fn replay(&mut self, now: Cycle) {
        let Some(&mshr) = self.ready.front() else { return };
        if !self.has_reply_room() {
            return;
        }
        let frame = self.mshrs.state(mshr).frame;
        if let Some(request) = self.mshrs.front(mshr) {
            let words = needed_here(request) & self.owned[frame.index()];
            if words != 0 {
                self.ready.pop();
                return self.recall_for(mshr, words, now);
            }
            let request = self.mshrs.pop(mshr).expect("the oldest request was looked at");
            self.perform(request, frame, now);
        }
        if self.mshrs.waiting(mshr) == 0 {
            self.ready.pop();
            self.mshrs.release(mshr);
            self.tags.unpin(frame);
        }
    }

    /// Performs a request on a line that is here. There must be room for its packets, and the words of a strong operation have no
    /// owners.
    fn perform(&mut self, mut request: Packet, frame: FrameId, now: Cycle) {
        let mut at = now + self.parameters.hit_latency;
        let data = &mut self.data[frame.index()];
        match &mut request.body {
            Body::Read(tray) => {
                tray.0 = data.0;
                self.statistics.data_reads += 1;
            }
            Body::Write(tray) => {
                data.merge(request.bytes, tray);
                self.tags.add_dirty(frame, request.bytes);
                self.statistics.data_writes += 1;
            }
            Body::Atomic(batch) => {
                let cycles = self.parameters.atomic_cycles * conflicts(batch);
                self.busy_until = now + cycles;
                at += cycles - 1;
                batch.perform(data);
                self.tags.add_dirty(frame, request.bytes);
                self.statistics.atomic_operations += u64::from(batch.count);
                self.statistics.data_reads += 1;
                self.statistics.data_writes += 1;
            }
            Body::Owned(..) => return self.serve(request, frame, at),
            body => unreachable!("a slice gets requests only, not {body:?}"),
        }
        self.send(request.into_reply(), false, at);
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
        let mut forwards = words & self.owned[frame.index()];
        let here = words & !forwards;
        let mut is_further = false;
        if here != 0 {
            is_further = true;
            let reply = self.answer(&request, (requester, here, message), frame, tray.take());
            self.send(reply, false, at);
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
            self.registry.registrations += 1;
            self.registry.registered_words += u64::from(words.count_ones());
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
        let along = named & !self.owned[frame.index()] & !here;
        let tray = tray.map(|mut tray| {
            tray.0 = self.data[frame.index()].0;
            tray
        });
        self.registry.extra_words += u64::from(along.count_ones());
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
            body: Body::Owned(letter, tray),
        })
    }

    /// What an owner is told of a request.
    fn forwarded(&mut self, event: RegistryEvent, owner: Owner, requester: Owner) -> Message {
        match registry_transition(Line::Present, Slot::Owned(owner), event, requester) {
            Some((_, RegistryAction::ForwardRead(_))) => {
                self.registry.forwarded_reads += 1;
                Message::ForwardRead
            }
            Some((_, RegistryAction::ForwardRegister(_))) => {
                self.registry.forwarded_registrations += 1;
                Message::ForwardRegister
            }
            Some((_, RegistryAction::ForwardRegisterRead(_))) => {
                self.registry.forwarded_registrations += 1;
                Message::ForwardRegisterRead
            }
            step => panic!("{requester} asks for words of {owner}: {event:?} makes {step:?}"),
        }
    }

    fn count(&mut self, request: &Packet, found: Found) {
        let s = &mut self.statistics;
        s.requests += 1;
        s.tag_reads += 1;
        let is_read = match &request.body {
            Body::Read(_) => true,
            Body::Owned(letter, _) => letter.message == Message::Read,
            _ => false,
        };
        let is_atomic = matches!(request.body, Body::Atomic(_));
        let (total, hits, misses, merges) = match (is_read, is_atomic) {
            (true, _) => (&mut s.reads, &mut s.read_hits, &mut s.read_misses, &mut s.read_merges),
            (_, true) => (&mut s.atomics, &mut s.atomic_hits, &mut s.atomic_misses, &mut s.atomic_merges),
            _ => (&mut s.writes, &mut s.write_hits, &mut s.write_misses, &mut s.write_merges),
        };
        *total += 1;
        *match found {
            Found::Hit | Found::Owned => hits,
            Found::Miss => misses,
            Found::Merge => merges,
        } += 1;
    }
}

/// Words that a request needs here: those of a strong operation.
fn needed_here(request: &Packet) -> u32 {
    if matches!(request.body, Body::Owned(..)) { 0 } else { words_of(request.bytes) }
}

/// Number of operations on the address with most of them, at least 1.
fn conflicts(batch: &AtomicBatch) -> u64 {
    let mut counts = [0_u8; 128];
    let mut most = 1;
    for offset in &batch.offset[..usize::from(batch.count)] {
        let count = &mut counts[usize::from(*offset)];
        *count += 1;
        most = most.max(*count);
    }
    u64::from(most)
}
