//! The contract of slices of the last-level cache, and its harness.
//!
//! Several sources, without races between them, send random requests to one slice in front of a flat DRAM.
//! The harness checks that requests from one source to one line are performed and answered in the order in
//! which they were accepted; that nothing is lost or answered twice; that `peek` shows the newest bytes; and
//! that `poke` reaches every copy; and that the slice comes to rest, with statistics that keep their laws. Where it skips cycles it also
//! leaves out the offers for which the slice says that it has no room, and DRAM says when it has none. Where it does not, it has the
//! slice look at everything again in every cycle, by a host copy of no bytes, and offer DRAM again what that refused.

use std::collections::VecDeque;

use strata_engine::Cycle;
use strata_engine::hash::Fnv;
use strata_engine::seed::Stream;
use strata_memory::atomic::AtomicBatch;
use strata_memory::doors::{Access, Action, DramPort, DramRequest, Llc};
use strata_memory::{Body, ByteMask, Client, Contents, Level, Line, LineAddress, NodeId, Origin, Packet};

use super::traffic::Traffic;
use super::world::same;
use super::{Outcome, PATIENCE, lawful, with_skips};

pub use super::Contract;

/// Makes the slice under test.
pub type Make<'a> = dyn FnMut() -> Box<dyn Llc> + 'a;

/// Number of requests that one source can have in flight.
const WINDOW: usize = 32;

/// A flat DRAM: requests take effect when offered, and finish in any order.
pub(super) struct Dram {
    pub lines: Vec<Line>,
    under_way: Vec<(Cycle, DramRequest)>,
    capacity: usize,
    /// Whether it says that it has no room; otherwise what is refused is offered in every cycle.
    tells: bool,
    /// Whether the last offer was refused.
    is_awaited: bool,
    /// Refusals.
    pub refused: u64,
    delay: u64,
    stream: Stream,
}

impl Dram {
    /// An idle DRAM that holds `lines`. It says when it has room in runs that skip cycles.
    pub fn new(lines: Vec<Line>, contract: &Contract, slice: u64) -> Dram {
        let stream = Stream::new(contract.seed + slice, "llc contract dram");
        let (capacity, tells, delay) = (6, contract.skip, contract.delay);
        Dram { lines, under_way: Vec::new(), capacity, tells, is_awaited: false, refused: 0, delay, stream }
    }

    fn is_full(&self) -> bool {
        self.under_way.len() >= self.capacity
    }

    fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    /// When an answer is ready, or there is room for what was refused.
    pub fn next_event(&self) -> Cycle {
        if self.is_awaited && !self.is_full() {
            return Cycle::ZERO;
        }
        self.under_way.iter().map(|(ready, _)| *ready).min().unwrap_or(Cycle::NEVER)
    }
}

impl DramPort for Dram {
    fn offer(&mut self, mut request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        self.is_awaited = self.is_full();
        if self.is_awaited {
            self.refused += 1;
            return Err(request);
        }
        assert!(!request.bytes.is_empty(), "a request to DRAM moves bytes");
        // What lies behind the lines that are accessed may be prefetched.
        let mut behind = Line::ZERO;
        let line = self.lines.get_mut(request.line.0 as usize).unwrap_or(&mut behind);
        if request.write {
            line.merge(request.bytes, &request.tray);
        } else {
            // Bytes that were not requested are filled with garbage: no design may use them.
            request.tray.0.fill(self.stream.next() as u8);
            request.tray.merge(request.bytes, line);
        }
        self.under_way.push((now + 1 + self.stream.below(self.delay), request));
        Ok(())
    }

    fn has_room(&self) -> bool {
        !self.tells || !self.is_full()
    }

    fn count_refusals(&mut self, cycles: u64) {
        self.refused += cycles;
    }

    fn completed(&mut self, now: Cycle) -> Option<DramRequest> {
        let place = self.under_way.iter().position(|(ready, _)| *ready <= now)?;
        Some(self.under_way.remove(place).1)
    }

    fn peek(&self, line: LineAddress, into: &mut Line) {
        into.clone_from(&self.lines[line.0 as usize]);
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.lines[line.0 as usize].merge(bytes, data);
    }
}

/// A request in flight; the list of its source is ordered oldest first.
struct Expected {
    tag: u32,
    access: Access,
    line: Option<Box<Line>>,
    old: Option<[u64; 32]>,
}

struct Source {
    held: Option<(Packet, Access)>,
    /// A prefetch that was refused, and the tags of those without an answer.
    held_hint: Option<Packet>,
    hints: Vec<u32>,
    /// Prefetches that are left in the episode: they must end, or a lost request is never seen.
    hints_left: u32,
    left: u32,
    under_way: VecDeque<Expected>,
    sent: u32,
}

struct Bench {
    contract: Contract,
    llc: Box<dyn Llc>,
    dram: Dram,
    sources: Vec<Source>,
    oracle: Vec<Line>,
    traffic: Traffic,
    stream: Stream,
    hints: Stream,
    slice: NodeId,
    now: Cycle,
    moved: Cycle,
    hash: Fnv,
}

/// Runs the harness once; [`Contract::l1ds`] is the number of sources.
///
/// # Errors
/// Describes the first violation of the contract in a sentence.
pub fn check(contract: &Contract, make: &mut Make<'_>) -> Result<Outcome, String> {
    let mut stream = Stream::new(contract.seed, "llc contract");
    let lines: Vec<_> =
        (0..contract.lines).map(|_| Line(std::array::from_fn(|_| stream.next() as u8))).collect();
    let source = || Source {
        held: None,
        held_hint: None,
        hints: Vec::new(),
        hints_left: 0,
        left: 0,
        under_way: VecDeque::new(),
        sent: 0,
    };
    Bench {
        contract: *contract,
        llc: make(),
        oracle: lines.clone(),
        dram: Dram::new(lines, contract, 0),
        sources: (0..contract.l1ds).map(|_| source()).collect(),
        traffic: Traffic::new(*contract),
        stream,
        hints: Stream::new(contract.seed, "llc contract hints"),
        slice: NodeId::from(contract.l1ds),
        now: Cycle::ZERO,
        moved: Cycle::ZERO,
        hash: Fnv::default(),
    }
    .run()
}

/// Runs the harness twice, once ticking every cycle and once skipping idle cycles, and compares the outcomes.
///
/// # Errors
/// Describes the first violation of the contract in a sentence.
pub fn check_with_skips(contract: &Contract, make: &mut Make<'_>) -> Result<Outcome, String> {
    with_skips(|skip| check(&Contract { skip, ..*contract }, make))
}

impl Bench {
    fn run(mut self) -> Result<Outcome, String> {
        let idle = |source: &Source| {
            let holds = source.held.is_some() || source.held_hint.is_some();
            source.left == 0 && !holds && source.under_way.is_empty() && source.hints.is_empty()
        };
        for _ in 0..self.contract.episodes {
            for source in &mut self.sources {
                (source.left, source.hints_left) = (self.contract.accesses, self.contract.hints_an_episode());
            }
            while !self.sources.iter().all(idle) {
                self.cycle().map_err(|fault| format!("cycle {}: {fault}", self.now))?;
                self.now = self.now.next();
            }
            if self.contract.rests {
                self.come_to_rest()?;
            }
            self.look_from_outside()?;
            self.traffic.new_episode();
        }
        let cycles = self.now.0;
        self.come_to_rest()?;
        self.look_from_outside()?;
        self.llc.settle(&mut self.dram, self.now);
        self.hash.write(&self.dram.refused.to_le_bytes());
        let groups = self.llc.statistics();
        lawful(&groups)?;
        Ok(Outcome { cycles, hash: self.hash.finish(), statistics: vec![groups] })
    }

    /// Lets the slice end what it has answered already.
    fn come_to_rest(&mut self) -> Result<(), String> {
        self.moved = self.now;
        while !(self.llc.is_settled() && self.dram.is_idle()) {
            self.cycle().map_err(|fault| format!("cycle {}, all is answered: {fault}", self.now))?;
            self.now = self.now.next();
        }
        Ok(())
    }

    /// Reads and writes lines as a host does between kernels.
    fn look_from_outside(&mut self) -> Result<(), String> {
        for number in 0..self.oracle.len() {
            let address = LineAddress(number as u64);
            let mut seen = self.dram.lines[number].clone();
            self.llc.peek(address, &mut seen);
            same(&self.oracle[number], &seen, ByteMask::ALL, || format!("peek of line {number}"))?;
            if self.stream.below(2) == 0 {
                let bytes = ByteMask(u128::from(self.stream.next()) << self.stream.below(64));
                let data = Line(std::array::from_fn(|_| self.stream.next() as u8));
                self.oracle[number].merge(bytes, &data);
                self.dram.lines[number].merge(bytes, &data);
                self.llc.poke(address, bytes, &data);
            }
        }
        Ok(())
    }

    fn cycle(&mut self) -> Result<(), String> {
        let now = self.now;
        let takes = self.stream.below(100) < self.contract.willing;
        let first = self.stream.below(self.sources.len() as u64) as usize;
        let due = self.llc.next_event(now).min(self.dram.next_event()) <= now;
        if !self.contract.skip {
            self.llc.poke(LineAddress(0), ByteMask::NONE, &Line::ZERO);
        }
        if due || !self.contract.skip {
            self.llc.tick(&mut self.dram, now);
        }
        if takes {
            let (bytes, from) = (self.llc.outgoing_bytes(now), self.llc.next_outgoing());
            let reply = self.llc.outgoing(now);
            if bytes != reply.as_ref().map(|packet| packet.wire_bytes()) {
                return Err("outgoing_bytes does not say what outgoing returns".to_owned());
            }
            if reply.is_some() != (from <= now) {
                return Err("next_outgoing does not say when outgoing returns a packet".to_owned());
            }
            if let Some(reply) = reply {
                self.verify(&reply)?;
            }
        }
        if now.since(self.moved) > PATIENCE {
            let mut report = Vec::new();
            self.llc.waits(&mut report);
            let lost: usize =
                self.sources.iter().map(|source| source.under_way.len() + source.hints.len()).sum();
            return Err(format!(
                "nothing moves any more; {lost} requests are under way; {}",
                report.join("; ")
            ));
        }
        // One request per cycle, from the first source that has one.
        let from = self.llc.next_outgoing();
        for place in 0..self.sources.len() {
            if self.offer((first + place) % self.sources.len())? {
                break;
            }
        }
        if self.llc.next_outgoing() != from {
            return Err("a request that was offered changed next_outgoing".to_owned());
        }
        Ok(())
    }

    fn verify(&mut self, reply: &Contents) -> Result<(), String> {
        let (now, source) = (self.now, reply.destination.index());
        self.moved = now;
        if reply.source != self.slice {
            return Err(format!("a reply comes from {:?}", reply.source));
        }
        if matches!(reply.body, Body::PrefetchAck) {
            let hints = &mut self.sources[source].hints;
            let place = hints.iter().position(|tag| *tag == reply.tag);
            let Some(place) = place else {
                return Err(format!(
                    "the prefetch with tag {} was answered, but is not under way",
                    reply.tag
                ));
            };
            hints.remove(place);
            self.hash.write(&now.0.to_le_bytes());
            self.hash.write(&reply.tag.to_le_bytes());
            return Ok(());
        }
        let under_way = &mut self.sources[source].under_way;
        // The oldest request to this line is the one that must be answered.
        let place = under_way.iter().position(|expected| expected.access.line == reply.line);
        let expected = place.and_then(|place| under_way.remove(place));
        let Some(expected) = expected.filter(|expected| expected.tag == reply.tag) else {
            return Err(format!("the reply with tag {} on line {} is not due", reply.tag, reply.line.0));
        };
        self.hash.write(&now.0.to_le_bytes());
        self.hash.write(&reply.tag.to_le_bytes());
        match (&reply.body, &expected.access.action) {
            (Body::ReadReply(tray), Action::Load(_)) => {
                let line = expected.line.as_ref().expect("a read has its expectation");
                same(line, tray, expected.access.bytes, || format!("a read of line {}", reply.line.0))
            }
            (Body::WriteAck(_), Action::Store(_)) => Ok(()),
            (Body::AtomicReply(batch), Action::Atomic(_)) => match expected.old {
                Some(old) if old[..usize::from(batch.count)] != batch.a[..usize::from(batch.count)] => {
                    Err(format!("an atomic on line {} brought other old values", reply.line.0))
                }
                _ => Ok(()),
            },
            (body, _) => Err(format!("a request was answered as something else: {body:?}")),
        }
    }

    /// Offers a request. One that was refused is not offered again before there is room, if cycles are skipped.
    fn offer_to_llc(&mut self, packet: Packet, was_refused: bool) -> Result<Result<(), Packet>, String> {
        let has_room = !was_refused || self.llc.has_room();
        if !has_room && self.contract.skip {
            self.llc.count_refusals(1);
            return Ok(Err(packet));
        }
        let offered = self.llc.offer(packet, self.now);
        if offered.is_ok() && !has_room {
            return Err("a request was taken for which there was no room".to_owned());
        }
        Ok(offered)
    }

    /// Whether the source had a prefetch to offer.
    fn offer_hint(&mut self, index: usize) -> Result<bool, String> {
        let source = &mut self.sources[index];
        let was_refused = source.held_hint.is_some();
        if !was_refused
            && source.left > 0
            && source.hints_left > 0
            && source.hints.len() < WINDOW
            && self.hints.below(100) < self.contract.hints
        {
            source.held_hint = Some(Packet::new(Contents {
                line: LineAddress(self.hints.below(self.contract.lines)),
                bytes: ByteMask::range(16 * self.hints.below(8) as usize, 16),
                source: NodeId::from(index),
                destination: self.slice,
                client: Client::L1d,
                tag: source.sent,
                origin: Origin::default(),
                level: Level::default(),
                body: Body::Prefetch,
            }));
            source.sent += 1;
            source.hints_left -= 1;
        }
        let Some(packet) = source.held_hint.take() else { return Ok(false) };
        let tag = packet.tag;
        let offered = self.offer_to_llc(packet, was_refused)?;
        let source = &mut self.sources[index];
        match offered {
            Ok(()) => source.hints.push(tag),
            Err(packet) => source.held_hint = Some(packet),
        }
        Ok(true)
    }

    /// Whether the source had something to offer.
    fn offer(&mut self, index: usize) -> Result<bool, String> {
        if self.offer_hint(index)? {
            return Ok(true);
        }
        let source = &mut self.sources[index];
        let was_refused = source.held.is_some();
        if !was_refused && source.left > 0 && source.under_way.len() < WINDOW {
            let access = self.traffic.next(index, 0);
            let body = match access.action.clone() {
                Action::Load(tray) => Body::Read(tray),
                Action::Store(tray) => Body::Write(tray),
                Action::Atomic(batch) => Body::Atomic(batch),
            };
            let packet = Packet::new(Contents {
                line: access.line,
                bytes: access.bytes,
                source: NodeId::from(index),
                destination: self.slice,
                client: Client::L1d,
                tag: source.sent,
                origin: access.origin(),
                level: Level::default(),
                body,
            });
            source.sent += 1;
            source.left -= 1;
            source.held = Some((packet, access));
        }
        let Some((packet, mut access)) = source.held.take() else { return Ok(false) };
        let tag = packet.tag;
        let offered = self.offer_to_llc(packet, was_refused)?;
        let source = &mut self.sources[index];
        if let Err(packet) = offered {
            source.held = Some((packet, access));
            return Ok(true);
        }
        let line = &mut self.oracle[access.line.0 as usize];
        let (mut seen, mut old) = (None, None);
        match &mut access.action {
            Action::Load(_) => seen = Some(Box::new(line.clone())),
            Action::Store(tray) => line.merge(access.bytes, tray),
            Action::Atomic(batch) => {
                let batch: &mut AtomicBatch = batch;
                batch.perform(line);
                old = self.traffic.is_exact().then_some(batch.a);
            }
        }
        source.under_way.push_back(Expected { tag, access, line: seen, old });
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
