//! Parts behind the doors with a bug: right ones behind a faulty interface.

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::doors::{
    Access, Completion, DramPort, L1d, LaneAccess, Llc, Refusal, Scratchpad, ScratchpadAction,
    ScratchpadRequest, Wrong,
};
use strata_memory::{ByteMask, Line, LineAddress, Packet, Tray};

use super::tap::{Bug, Came, Staged, Tap};

/// A stash.
pub struct FaultyStash {
    inner: Box<dyn Scratchpad>,
    tap: Tap,
    staged: Staged,
}

impl FaultyStash {
    pub fn new(inner: Box<dyn Scratchpad>, tap: Tap) -> FaultyStash {
        FaultyStash { inner, tap, staged: Staged::default() }
    }
}

impl Scratchpad for FaultyStash {
    fn has_room(&self) -> bool {
        self.inner.has_room()
    }

    fn offer(&mut self, mut request: Box<ScratchpadRequest>, now: Cycle) -> Result<(), Wrong> {
        if let ScratchpadAction::Tile(_, mapping) = &mut request.action {
            mapping.is_coherent = self.tap.coherence(mapping.is_coherent);
            if mapping.num_strides > 1 && self.tap.strikes(Bug::WrongTranslation) {
                mapping.stride_size += 4;
            }
        }
        self.inner.offer(request, now)
    }

    fn tick(&mut self, sram: &mut [u8], now: Cycle) {
        self.inner.tick(sram, now);
        while let Some(packet) = self.inner.outgoing(now) {
            self.staged.take(packet, true, &mut self.tap);
        }
        while let Some(packet) = self.inner.answer(now) {
            self.staged.take(packet, false, &mut self.tap);
        }
        while let Some(packet) = self.staged.back() {
            self.inner.accept(packet, now);
        }
    }

    fn completed(&mut self, now: Cycle) -> Option<Box<ScratchpadRequest>> {
        self.inner.completed(now)
    }

    fn access(&mut self, now: Cycle) -> Option<LaneAccess> {
        self.inner.access(now)
    }

    fn performed(&mut self, token: u32, tray: Tray, now: Cycle) {
        self.inner.performed(token, tray, now);
    }

    fn accept(&mut self, packet: Packet, now: Cycle) {
        match self.tap.came(packet) {
            Came::Comes(packet) => self.inner.accept(packet, now),
            Came::AnsweredFor(packet) => self.staged.answers.push_back(packet),
        }
    }

    fn outgoing(&mut self, _: Cycle) -> Option<Packet> {
        self.staged.requests.pop_front()
    }

    fn outgoing_bytes(&self, _: Cycle) -> Option<u32> {
        self.staged.requests.front().map(|packet| packet.wire_bytes())
    }

    fn answer(&mut self, _: Cycle) -> Option<Packet> {
        self.staged.answers.pop_front()
    }

    fn answer_bytes(&self, _: Cycle) -> Option<u32> {
        self.staged.answers.front().map(|packet| packet.wire_bytes())
    }

    fn peek(&mut self, line: LineAddress, below: &mut Line) {
        self.inner.peek(line, below);
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.inner.poke(line, bytes, data);
    }

    fn end_cta(&mut self, cta: u8, now: Cycle) {
        self.inner.end_cta(cta, now);
    }

    fn end_kernel(&mut self, now: Cycle) -> bool {
        self.staged.is_empty() && self.inner.end_kernel(now)
    }

    fn is_idle(&self) -> bool {
        self.staged.is_empty() && self.inner.is_idle()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.staged.next_event(self.inner.next_event(now), now)
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.inner.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        self.inner.statistics()
    }
}

/// An L1D that owns words.
pub struct FaultyL1d {
    inner: Box<dyn L1d>,
    tap: Tap,
    staged: Staged,
}

impl FaultyL1d {
    pub fn new(inner: Box<dyn L1d>, tap: Tap) -> FaultyL1d {
        FaultyL1d { inner, tap, staged: Staged::default() }
    }
}

impl L1d for FaultyL1d {
    fn accesses_per_cycle(&self) -> u32 {
        self.inner.accesses_per_cycle()
    }

    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        self.inner.offer(access, now)
    }

    fn accept(&mut self, reply: Packet, now: Cycle) {
        match self.tap.came(reply) {
            Came::Comes(packet) => self.inner.accept(packet, now),
            Came::AnsweredFor(packet) => self.staged.answers.push_back(packet),
        }
    }

    fn tick(&mut self, now: Cycle) {
        self.inner.tick(now);
        while let Some(packet) = self.inner.outgoing(now) {
            self.staged.take(packet, true, &mut self.tap);
        }
        while let Some(packet) = self.inner.answer(now) {
            self.staged.take(packet, false, &mut self.tap);
        }
        while let Some(packet) = self.staged.back() {
            self.inner.accept(packet, now);
        }
    }

    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        self.inner.completed(now)
    }

    fn outgoing(&mut self, _: Cycle) -> Option<Packet> {
        self.staged.requests.pop_front()
    }

    fn outgoing_bytes(&self, _: Cycle) -> Option<u32> {
        self.staged.requests.front().map(|packet| packet.wire_bytes())
    }

    fn answer(&mut self, _: Cycle) -> Option<Packet> {
        self.staged.answers.pop_front()
    }

    fn answer_bytes(&self, _: Cycle) -> Option<u32> {
        self.staged.answers.front().map(|packet| packet.wire_bytes())
    }

    fn begin_flush(&mut self, invalidate: bool, now: Cycle) {
        let keeps = self.tap.strikes(Bug::SelfInvalidationMissed);
        self.inner.begin_flush(invalidate && !keeps, now);
    }

    fn is_flushed(&self) -> bool {
        self.inner.is_flushed()
    }

    fn peek(&self, line: LineAddress, below: &mut Line) {
        self.inner.peek(line, below);
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.inner.poke(line, bytes, data);
    }

    fn outstanding(&self) -> usize {
        self.inner.outstanding() + self.staged.len()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.staged.next_event(self.inner.next_event(now), now)
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.inner.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        self.inner.statistics()
    }
}

/// A slice of an L2 that knows owners.
pub struct FaultyL2 {
    inner: Box<dyn Llc>,
    tap: Tap,
    staged: Staged,
}

impl FaultyL2 {
    pub fn new(inner: Box<dyn Llc>, tap: Tap) -> FaultyL2 {
        FaultyL2 { inner, tap, staged: Staged::default() }
    }
}

impl Llc for FaultyL2 {
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet> {
        self.inner.offer(request, now)
    }

    fn accept(&mut self, packet: Packet, now: Cycle) {
        self.inner.accept(packet, now);
    }

    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        self.inner.tick(dram, now);
        while let Some(packet) = self.inner.outgoing(now) {
            self.staged.take(packet, true, &mut self.tap);
        }
        while let Some(packet) = self.staged.back() {
            self.inner.accept(packet, now);
        }
    }

    fn outgoing(&mut self, _: Cycle) -> Option<Packet> {
        self.staged.requests.pop_front()
    }

    fn outgoing_bytes(&self, _: Cycle) -> Option<u32> {
        self.staged.requests.front().map(|packet| packet.wire_bytes())
    }

    fn next_outgoing(&self) -> Cycle {
        if self.staged.requests.is_empty() { Cycle::NEVER } else { Cycle::ZERO }
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        let inner = self.inner.next_event(now).min(self.inner.next_outgoing().max(now));
        self.staged.next_event(inner, now)
    }

    fn peek(&self, line: LineAddress, below: &mut Line) {
        self.inner.peek(line, below);
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.inner.poke(line, bytes, data);
    }

    fn further(&self) -> u64 {
        self.inner.further()
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.inner.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        self.inner.statistics()
    }
}
