//! The memories' part of a cycle: the L1D, the read-only caches, the load/store unit and the links to the network.

use strata_engine::Cycle;
use strata_memory::doors::L1d;
use strata_memory::read_only::ReadOnly;
use strata_memory::{Client, Level};

use crate::dispatch::Notice;
use crate::doors::Doors;
use crate::launch::{FaultKind, Launch};
use crate::lsu::WrongAccess;
use crate::sm::Sm;

impl<D: Doors> Sm<D> {
    /// Advances the memories and the load/store unit, and takes the instructions that finished. Returns whether that
    /// changed anything for the pipeline.
    pub(crate) fn memory(&mut self, launch: &Launch, now: Cycle) -> bool {
        if self.replies.next_arrival() <= now {
            self.take_replies(now);
        }
        if D::EXTRAS && self.owners.is_some() {
            self.hear_owners(now);
        }
        if D::EXTRAS && self.second_due <= now {
            self.hear_second(now);
        }
        if self.l1d_due <= now {
            self.l1d.tick(now);
            self.lsu.complete_with(D::EXTRAS, &mut *self.l1d, now);
        }
        let asked = self.lsu.tick_with(D::EXTRAS, &mut *self.l1d, &mut self.constants, now);
        if asked.l1d {
            self.l1d_due = now;
            // Fills evict lines in other cycles, too; of those, it is in time to hear before the next miss.
            if D::EXTRAS && self.throttle.is_some() {
                self.hear_l1d(now);
            }
        }
        if asked.constants {
            self.constants_due = now;
        }
        let waiting = (self.lsu.waiting_fence(), self.lsu.waiting_copies());
        let mut changed = waiting != (self.warps.at_fence, self.warps.at_copies);
        if changed {
            (self.warps.at_fence, self.warps.at_copies) = waiting;
        }
        changed |= self.lsu.can_accept() != self.lsu_accepts;
        while self.units.has_place()
            && let Some(finished) = self.lsu.finished(now)
        {
            let instruction = &launch.kernel.code[finished.pc as usize];
            self.units.finish_memory(instruction, finished);
            changed = true;
        }
        if D::EXTRAS && asked.wrong {
            self.fail_behind(launch);
        }
        if self.lsu.kernel_end_flushed(now) {
            self.follow(|path| path.flush_ends(now));
            self.notify(Notice::Flushed);
        }
        while D::EXTRAS
            && let Some(number) = self.lsu.event_over()
        {
            self.resume(launch, number, now);
            changed = true;
        }
        changed
    }

    /// Tells the throttle what the L1D has to tell.
    #[cold]
    fn hear_l1d(&mut self, now: Cycle) {
        let moment = self.moment(now);
        let Some(throttle) = &mut self.throttle else { return };
        while let Some(news) = self.l1d.news() {
            throttle.hear(news, moment);
        }
    }

    /// The program's fault that the part behind the banks of shared memory has found.
    #[cold]
    fn fail_behind(&mut self, launch: &Launch) {
        if let Some(WrongAccess { warp, pc, lane, what }) = self.lsu.take_wrong() {
            self.fail(launch, warp.into(), pc, 1 << lane, FaultKind::Mapping { what });
        }
    }

    /// Takes the replies that have arrived.
    fn take_replies(&mut self, now: Cycle) {
        while let Some(packet) = self.replies.receive(now) {
            self.replies.release(packet.wire_bytes().div_ceil(self.flit_bytes), now);
            match packet.client {
                Client::L1d => {
                    if D::EXTRAS
                        && let Some(ledger) = self.lsu.ledger()
                    {
                        ledger.answered(packet.line, packet.level, now);
                    }
                    self.l1d_due = now;
                    self.l1d.accept(packet, now);
                }
                Client::Constant => {
                    self.constants_due = now;
                    self.constants.accept(packet, now);
                }
                Client::Instruction => {
                    self.instructions_due = now;
                    self.instructions.accept(packet, now);
                }
                Client::ReadOnly => {
                    let second = self.second.as_mut().expect("who sends a request is there");
                    second.accept(packet, now);
                    self.second_due = now;
                }
                Client::Scratchpad => self.lsu.accept(packet, now),
                Client::Gmmu => unreachable!("an SM is no GMMU"),
            }
        }
    }

    /// Advances the second level of read-only caches, and takes its replies.
    #[inline(never)]
    fn hear_second(&mut self, now: Cycle) {
        let Some(second) = &mut self.second else { return };
        second.tick(now);
        while let Some(packet) = second.reply(now) {
            if packet.client == Client::Instruction {
                self.instructions_due = now;
                self.instructions.accept(packet, now);
            } else {
                self.constants_due = now;
                self.constants.accept(packet, now);
            }
        }
    }

    /// Passes the requests of the read-only caches to their second level. Returns whether there was one.
    #[inline(never)]
    pub(crate) fn ask_second(&mut self, now: Cycle) -> bool {
        let Some(second) = &mut self.second else { return false };
        let mut has_asked = false;
        while self.constants_due <= now
            && let Some(packet) = self.constants.outgoing(now)
        {
            second.request(packet);
            has_asked = true;
        }
        while self.instructions_due <= now
            && let Some(packet) = self.instructions.outgoing(now)
        {
            second.request(packet);
            has_asked = true;
        }
        if has_asked {
            self.second_due = now;
        }
        has_asked
    }

    /// Advances the MMU, and has it look up the next packet of the L1D. Returns whether there was one.
    #[inline(never)]
    pub(crate) fn translate(&mut self, now: Cycle) -> bool {
        let Some(mmu) = &mut self.mmu else { return false };
        if self.mmu_due <= now || mmu.arrival() <= now {
            mmu.tick(now);
            self.mmu_due = now;
        }
        let packet = if self.l1d_due <= now && mmu.can_look_up(now) { self.l1d.outgoing(now) } else { None };
        let Some(packet) = packet else { return false };
        mmu.look_up(packet, now);
        self.mmu_due = now;
        true
    }

    /// Takes what has arrived from other owners.
    #[inline(never)]
    pub(crate) fn hear_owners(&mut self, now: Cycle) {
        let Some(links) = &mut self.owners else { return };
        while let Some(packet) = links.hear(now) {
            match packet.client {
                Client::Scratchpad => self.lsu.accept(packet, now),
                _ => {
                    if let Some(ledger) = self.lsu.ledger() {
                        ledger.answered(packet.line, Level::Owner, now);
                    }
                    self.l1d_due = now;
                    self.l1d.accept(packet, now);
                }
            }
        }
    }

    /// Sends what the L1D says next or, if that says nothing, a stash, if there is credit for it.
    #[inline(never)]
    pub(crate) fn answer(&mut self, now: Cycle) {
        let Some(links) = &mut self.owners else { return };
        let of_l1d = if self.l1d_due <= now { self.l1d.answer_bytes(now) } else { None };
        let (bytes, part) = match (of_l1d, self.lsu.client()) {
            (None, None) => return,
            (None, Some(part)) => (part.answer_bytes(now), Some(part)),
            (bytes, _) => (bytes, None),
        };
        if !bytes.is_some_and(|bytes| links.has_room(bytes, now)) {
            return;
        }
        let packet = match part {
            Some(part) => part.answer(now),
            None => self.l1d.answer(now),
        };
        links.say(packet.expect("a memory that names a packet's size has the packet"), now);
        self.injector.sent += 1;
    }

    /// Sends a packet of one of the memories, if any has one. In most cycles none does.
    #[inline(always)]
    pub(crate) fn inject(&mut self, now: Cycle) {
        if self.l1d_due <= now && self.l1d.outgoing_bytes(now).is_some()
            || self.constants_due <= now
            || self.instructions_due <= now
            || D::EXTRAS && (self.second_due <= now || self.mmu_due <= now || self.lsu.client().is_some())
        {
            (0..self.injector.packets).for_each(|_| self.inject_from_any(now));
        }
    }

    /// Asks all memories for a packet, and sends that of the one whose turn it is.
    #[inline(never)]
    fn inject_from_any(&mut self, now: Cycle) {
        // What the L1D has to send, its MMU sends once it is translated.
        let l1d = match &self.mmu {
            Some(mmu) => mmu.outgoing_bytes(now),
            None if self.l1d_due <= now => self.l1d.outgoing_bytes(now),
            None => None,
        };
        let constants = if self.constants_due <= now { self.constants.outgoing_bytes(now) } else { None };
        let instructions =
            if self.instructions_due <= now { self.instructions.outgoing_bytes(now) } else { None };
        // The first level has sent its requests to the second, which goes in its place.
        let constants = match &self.second {
            Some(second) => second.outgoing_bytes(now),
            None => constants,
        };
        let scratchpad = self.lsu.client().and_then(|part| part.outgoing_bytes(now));
        if l1d.is_some() || constants.is_some() || instructions.is_some() || scratchpad.is_some() {
            self.injector.send(
                [l1d, constants, instructions, scratchpad],
                (&mut *self.l1d, &mut self.constants, &mut self.instructions, self.second.as_deref_mut()),
                (self.lsu.client(), self.mmu.as_deref_mut()),
                now,
            );
        }
    }

    /// Earliest cycle from `now` on in which the memories, the load/store unit or the outgoing links change on their
    /// own, or something arrives. Asks only the memories that were due in the cycle before, or were asked for something.
    pub(crate) fn next_of_memory(&mut self, now: Cycle) -> Cycle {
        if self.l1d_due < now {
            self.l1d_due = self.l1d.next_event(now);
        }
        if self.constants_due < now {
            self.constants_due = self.constants.next_event(now);
        }
        let mut memories = self.l1d_due.min(self.constants_due).min(self.arrival());
        if D::EXTRAS {
            if self.second_due < now {
                self.second_due = self.second.as_ref().map_or(Cycle::NEVER, |second| second.next_event(now));
            }
            if self.mmu_due < now {
                self.mmu_due = self.mmu.as_ref().map_or(Cycle::NEVER, |mmu| mmu.next_event(now));
            }
            memories = memories.min(self.second_due).min(self.mmu_due);
        }
        // What is due at once need not be compared with the rest.
        if memories <= now || !self.pending_notices.is_empty() {
            return now;
        }
        memories.min(self.lsu.next_event_with(D::EXTRAS, &*self.l1d, now)).max(now)
    }
}
