//! The core's accesses: what the table says to each, and what follows.

use strata_engine::Cycle;
use strata_memory::cache::{FrameId, Store};
use strata_memory::doors::{Access, Action, Completion, L1d, Policy, Refusal};
use strata_memory::mshr::MshrId;
use strata_memory::ownership::{Message, bytes_of, whole_words_of, words_of};
use strata_memory::{Body, NodeId, Touch};

use super::block::Block;
use super::cache::{Banks, DenovoL1d};
use crate::chassis::Found;
use crate::denovo::words::{Flights, NoLine, Outcome, Words, apply};
use crate::denovo::{Action as Does, Event};

/// What an access will do. Finding it out changes nothing; doing it cannot fail.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Whether it is performed now. Otherwise it waits in the line's MSHR.
    performs: bool,
    /// Words to write back before it goes past the cache.
    write_back: u32,
    /// Words to read, to register, and to register with their rest.
    read: u32,
    register: u32,
    register_read: u32,
    /// The line afterwards.
    words: Words,
    flights: Flights,
    /// The line's frame and MSHR, as far as it has them.
    frame: Option<FrameId>,
    mshr: Option<MshrId>,
}

impl Step {
    fn of(frame: Option<FrameId>, mshr: Option<MshrId>, outcome: &Outcome) -> Step {
        Step {
            performs: outcome.with(Does::Wait) | outcome.with(Does::Ask) == 0,
            write_back: outcome.with(Does::WriteBack),
            read: outcome.with(Does::Ask),
            register: outcome.with(Does::Claim),
            register_read: outcome.with(Does::ClaimAndAsk),
            words: outcome.words,
            flights: outcome.flights,
            frame,
            mshr,
        }
    }

    /// It waits, and nothing changes.
    fn wait(self, words: Words, flights: Flights) -> Step {
        Step {
            performs: false,
            write_back: 0,
            read: 0,
            register: 0,
            register_read: 0,
            words,
            flights,
            ..self
        }
    }

    fn requests(&self) -> usize {
        [self.read, self.register, self.register_read].iter().filter(|words| **words != 0).count()
    }
}

/// An access as the replacement policy sees it, which knows lines by the names of their blocks.
fn touch(access: &Access, block: Block, node: NodeId) -> Touch {
    Touch { line: block.name(), ..access.touch(node) }
}

/// Whether an access goes past the cache, to be performed at the registry.
fn goes_past(access: &Access) -> bool {
    matches!(access.action, Action::Atomic(_)) || access.policy == Policy::Bypass
}

/// The core's own events can happen to any word.
fn looked_up(outcome: Result<Outcome, NoLine>) -> Outcome {
    outcome.unwrap_or_else(|word| unreachable!("the table has no line for {word:?}"))
}

impl DenovoL1d {
    /// Takes an access, or returns it with the reason why it cannot start.
    pub(super) fn start(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        let block = self.block_of(&access);
        if let Err(cause) = self.bank_is_free(block, now) {
            return Err((access, cause));
        }
        let mshr = self.cache.mshrs.find(block.name());
        // Accesses to a block are performed in order.
        let queues = mshr.filter(|mshr| self.cache.mshrs.waiting(*mshr) > 0);
        if let Some(mshr) = queues {
            if !self.cache.mshrs.can_merge(mshr) {
                return Err((access, Refusal::Merge));
            }
            self.use_bank(block, now);
            self.statistics.count(&access, goes_past(&access), Found::Merge);
            self.cache.mshrs.push(mshr, access).expect("room in the MSHR was checked");
            return Ok(());
        }
        let step = self.plan(&access, block, mshr);
        if let Err(cause) = self.room_for(&access, block, &step, false) {
            self.release_registrations();
            return Err((access, cause));
        }
        if !step.performs {
            self.release_registrations();
        }
        self.use_bank(block, now);
        self.statistics.count(&access, goes_past(&access), self.found(&access, &step));
        let mshr = self.prepare(block, &touch(&access, block, self.node), &step, now);
        if !step.performs {
            let mshr = mshr.expect("an access that waits has an MSHR");
            self.cache.mshrs.push(mshr, access).expect("room in the MSHR was checked");
        } else if let Some(completion) = self.perform(access, &step, now) {
            self.hits.push(now + self.latency.hit, completion).expect("room in the pipeline was checked");
        }
        Ok(())
    }

    /// The block in which an access lies.
    fn block_of(&self, access: &Access) -> Block {
        self.blocks.of(access.line, words_of(access.bytes))
    }

    fn found(&self, access: &Access, step: &Step) -> Found {
        let here = step.frame.map_or(0, |frame| self.words[frame.index()].here());
        match (goes_past(access), step.performs && step.requests() == 0) {
            (true, _) if step.performs => Found::Past,
            (true, _) => Found::Merge,
            (false, true) => Found::Hit,
            (false, false) if step.mshr.is_some() => Found::Merge,
            (false, false) if here != 0 => Found::Partial,
            (false, false) => Found::Miss,
        }
    }

    /// What an access does at the head of its block's queue.
    fn plan(&self, access: &Access, block: Block, mshr: Option<MshrId>) -> Step {
        let frame = self.cache.store.find(block.name());
        let words = frame.map_or(Words::default(), |frame| self.words[frame.index()]);
        let mut flights = mshr.map_or(Flights::default(), |mshr| self.cache.mshrs.state(mshr).rest.flights);
        flights.write_back = self.written_back(block);
        let touched = words_of(access.bytes);
        let step = |outcome: Result<Outcome, NoLine>| Step::of(frame, mshr, &looked_up(outcome));
        if goes_past(access) {
            let step = step(apply(words, flights, Event::Evict, touched));
            // Nothing of the block may be under way that could bring an old word along (reading 12).
            return if flights.pinning() == 0 { step } else { step.wait(words, flights) };
        }
        if matches!(access.action, Action::Load(_)) {
            return step(apply(words, flights, Event::Load, touched));
        }
        let whole = whole_words_of(access.bytes);
        let first = step(apply(words, flights, Event::Store, whole));
        let second = step(apply(first.words, first.flights, Event::StorePart, touched & !whole));
        if !first.performs || !second.performs {
            return first.wait(words, flights);
        }
        Step { register: first.register, ..second }
    }

    /// Whether there is room for everything that an access does.
    fn room_for(&self, access: &Access, block: Block, step: &Step, is_replay: bool) -> Result<(), Refusal> {
        if step.performs && goes_past(access) {
            let room = self.has_request_room(1) && (step.write_back == 0 || self.has_write_back_room());
            return match access.action {
                Action::Store(_) if self.bypass_trays.left() == 0 => Err(Refusal::Network),
                Action::Load(_) | Action::Atomic(_) if self.bypasses.is_full() => Err(Refusal::Mshr),
                _ if room => Ok(()),
                _ => Err(Refusal::Network),
            };
        }
        match step.mshr {
            None if (!step.performs || step.requests() > 0) && self.cache.mshrs.is_full() => {
                return Err(Refusal::Mshr);
            }
            Some(mshr) if !step.performs && !is_replay && !self.cache.mshrs.can_merge(mshr) => {
                return Err(Refusal::Merge);
            }
            _ => {}
        }
        if !self.has_request_room(step.requests()) {
            return Err(Refusal::Network);
        }
        if step.frame.is_none() {
            if !self.cache.store.has_victim(block.name()) {
                return Err(Refusal::Ways);
            }
            // The victim has not been chosen; it may have registered words.
            if !self.has_write_back_room() {
                return Err(Refusal::Network);
            }
        }
        Ok(())
    }

    /// Does what comes before an access is performed: takes a frame and an MSHR where it needs them, changes the words' states
    /// and sends requests. Returns the block's MSHR, if it has one.
    fn prepare(&mut self, block: Block, touch: &Touch, step: &Step, now: Cycle) -> Option<MshrId> {
        let goes_past = step.performs && step.frame.is_none() && step.requests() == 0;
        if goes_past {
            return step.mshr;
        }
        let frame = step.frame.unwrap_or_else(|| self.make_room(block, touch, now));
        self.cache.store.used(frame, touch);
        if step.write_back != 0 {
            self.write_back(frame, step.write_back, now);
        }
        self.words[frame.index()] = step.words;
        if step.performs && step.requests() == 0 {
            return step.mshr;
        }
        let mshr = step.mshr.unwrap_or_else(|| self.allocate(block, frame));
        self.cache.mshrs.state_mut(mshr).rest.flights = Flights { write_back: 0, ..step.flights };
        for (message, words) in [
            (Message::Read, step.read),
            (Message::RegisterRead, step.register_read),
            // Last: registrations that have waited go with it as far as there is room.
            (Message::Register, step.register),
        ] {
            if words != 0 {
                self.send(mshr, message, words, now);
            }
        }
        Some(mshr)
    }

    fn allocate(&mut self, block: Block, frame: FrameId) -> MshrId {
        self.cache.allocate(block.name(), frame)
    }

    fn send(&mut self, mshr: MshrId, message: Message, words: u32, now: Cycle) {
        let block = Block::named(self.cache.mshrs.line(mshr));
        let wants_data = message != Message::Register;
        let tray = wants_data.then(|| self.read_trays.take());
        if wants_data {
            self.cache.mshrs.state_mut(mshr).rest.trays += 1;
            self.statistics.fetches += 1;
        }
        if message == Message::Register {
            return self.register(block, words, now);
        }
        if message == Message::RegisterRead {
            self.coherence.registrations += 1;
            self.coherence.registered_words += u64::from(words.count_ones());
            self.coherence.partly_written_words += u64::from(words.count_ones());
        }
        self.ask(block, message, words, tray, now);
    }

    /// Assigns a frame to a block, after writing back the registered words of the block that was there.
    fn make_room(&mut self, block: Block, touch: &Touch, now: Cycle) -> FrameId {
        let frame = self.cache.store.victim(block.name()).expect("a free way was checked");
        if let Some(victim) = self.cache.frames().line(frame).map(Block::named) {
            self.statistics.evictions += 1;
            let flights = Flights { write_back: self.written_back(victim), ..Flights::default() };
            let evicted = looked_up(apply(self.words[frame.index()], flights, Event::Evict, u32::MAX));
            let registered = evicted.with(Does::WriteBack);
            if registered != 0 {
                self.write_back(frame, registered, now);
            }
        }
        self.cache.store.install(frame, touch);
        self.words[frame.index()] = Words::default();
        self.statistics.tag_writes += 1;
        frame
    }

    /// Performs an access. Its completion comes later if it goes past the cache and needs a reply.
    fn perform(&mut self, access: Access, step: &Step, now: Cycle) -> Option<Completion> {
        if goes_past(&access) {
            return self.go_past(access, now);
        }
        let name = self.block_of(&access).name();
        let Access { bytes, token, .. } = access;
        let frame = self.cache.store.find(name).expect("an access is performed on a frame");
        let data = self.cache.frames_mut().data_mut(frame);
        let action = match access.action {
            Action::Load(mut tray) => {
                tray.0 = data.0;
                self.statistics.data_reads += 1;
                Action::Load(tray)
            }
            Action::Store(tray) => {
                data.merge(bytes, &tray);
                self.statistics.data_writes += 1;
                if step.register_read != 0 {
                    let mshr = self.cache.mshrs.find(name).expect("a registration has an MSHR");
                    self.cache.mshrs.state_mut(mshr).rest.written |= bytes & bytes_of(step.register_read);
                }
                Action::Store(tray)
            }
            Action::Atomic(_) => unreachable!("atomics are performed at the registry"),
        };
        Some(Completion { token, action })
    }

    fn go_past(&mut self, access: Access, now: Cycle) -> Option<Completion> {
        let Access { line, bytes, token, action, .. } = access;
        let body = match action {
            Action::Store(tray) => {
                let other = self.bypass_trays.take();
                self.writes_in_flight += 1;
                self.statistics.write_throughs += 1;
                self.request(line, bytes, 0, Body::Write(tray), now);
                return Some(Completion { token, action: Action::Store(other) });
            }
            Action::Load(tray) => Body::Read(tray),
            Action::Atomic(batch) => Body::Atomic(batch),
        };
        let tag = self.bypasses.insert(token).expect("a free entry was checked");
        self.request(line, bytes, tag, body, now);
        None
    }

    /// Serves the ready MSHRs, in order, until a bank is needed twice.
    pub(super) fn replay(&mut self, now: Cycle) {
        let mut banks = Banks::new(self.accesses_per_cycle());
        for _ in 0..self.accesses_per_cycle() {
            let Some(mshr) = self.cache.first_ready() else { return };
            let block = Block::named(self.cache.mshrs.line(mshr));
            if self.served.is_full() || !banks.is_free(block, now) {
                return;
            }
            banks.take(block, now);
            self.replay_first(now);
        }
    }

    /// Takes the oldest access of the first ready MSHR as far as it goes, and frees the MSHR when nothing of its block waits or is under
    /// way.
    fn replay_first(&mut self, now: Cycle) {
        let Some(mshr) = self.cache.first_ready() else { return };
        if let Some(access) = self.cache.mshrs.front(mshr) {
            let block = Block::named(self.cache.mshrs.line(mshr));
            let step = self.plan(access, block, Some(mshr));
            let touch = touch(access, block, self.node);
            let has_room = self.room_for(access, block, &step, true).is_ok();
            if !has_room || !step.performs {
                self.release_registrations();
            }
            if !has_room {
                // It waits for room, which others may have to make.
                return self.cache.postpone_first();
            }
            self.prepare(block, &touch, &step, now);
            if step.performs {
                let access = self.cache.mshrs.pop(mshr).expect("the oldest access was looked at");
                if let Some(completion) = self.perform(access, &step, now) {
                    let full = self.served.push(now + self.latency.fill, completion);
                    full.expect("room for a served access was checked");
                }
                if self.cache.mshrs.waiting(mshr) > 0 {
                    return;
                }
            }
        }
        self.cache.settle_first();
        self.retire(mshr);
    }

    /// Frees an MSHR whose block has nothing that waits or is under way.
    fn retire(&mut self, mshr: MshrId) {
        let in_flight = self.cache.mshrs.state(mshr).rest.flights.pinning();
        if self.cache.mshrs.waiting(mshr) > 0 || in_flight != 0 {
            return;
        }
        let frame = self.cache.release(mshr);
        if self.words[frame.index()].here() == 0 {
            self.cache.store.invalidate(frame);
        }
    }
}
