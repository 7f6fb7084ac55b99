//! L1Ds, their memory and the oracle, cycle by cycle.

use strata_engine::Cycle;
use strata_engine::hash::Fnv;
use strata_engine::seed::Stream;
use strata_memory::doors::{Access, Action, Completion, Hint, HintLevel, Hinted, L1d, Refusal};
use strata_memory::{ByteMask, Line, LineAddress, NodeId, Origin, SliceMap};

use super::memory::Memory;
use super::traffic::Traffic;
use super::{Contract, Outcome, PATIENCE, lawful};

/// Number of accesses that one L1D can have in flight.
pub(super) const TOKENS: usize = 64;

/// An accepted access, and what it must return.
pub(super) struct Expected {
    pub access: Access,
    /// The oracle's line when a load was accepted; the old values of an atomic.
    pub line: Option<Box<Line>>,
    pub old: Option<[u64; 32]>,
}

/// When an access that was refused is offered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retries {
    /// In every cycle.
    Always,
    /// In every cycle; it may be taken only when [`L1d::changes`] says something else than at its refusal.
    Checked,
    /// Only then; the refusals in between are counted ([`L1d::count_refusals`]).
    Told,
}

/// An L1D, and what is asked of it.
pub(super) struct Client {
    pub l1d: Box<dyn L1d>,
    pub held: Option<Access>,
    /// Why it was refused, and what [`L1d::changes`] said then.
    refused: Option<(Refusal, u64)>,
    pub retries: Retries,
    /// A hint that was refused.
    held_hint: Option<Hint>,
    pub left: u32,
    /// Hints that are left in the episode: they must end, or a lost access is never seen.
    hints_left: u32,
    pub under_way: Vec<Option<Expected>>,
    pub flushing: bool,
}

impl Client {
    pub fn new(l1d: Box<dyn L1d>) -> Client {
        let under_way = (0..TOKENS).map(|_| None).collect();
        let (held, refused, held_hint) = (None, None, None);
        let (retries, flushing, left, hints_left) = (Retries::Always, false, 0, 0);
        Client { l1d, held, refused, retries, held_hint, left, hints_left, under_way, flushing }
    }

    pub fn is_idle(&self) -> bool {
        let holds = self.held.is_some() || self.held_hint.is_some();
        self.left == 0 && !holds && self.under_way.iter().all(Option::is_none)
    }

    /// Offers a hint, or the one that was refused last. Whether it was taken.
    fn offer_hint(&mut self, hint: Hint, now: Cycle) -> Result<bool, String> {
        let hint = self.held_hint.take().unwrap_or(hint);
        match self.l1d.hint(&hint, now) {
            Ok(Hinted::Taken) if self.flushing && hint.level == HintLevel::L1d => {
                Err("a hint was taken during a flush".to_owned())
            }
            Ok(_) => Ok(true),
            Err(Refusal::Port | Refusal::Bank | Refusal::Flush | Refusal::Network) => {
                self.held_hint = Some(hint);
                Ok(false)
            }
            Err(cause) => Err(format!("a hint was refused for {cause:?}, expected it to be dropped")),
        }
    }

    /// Whether the L1D says that it would refuse again what it refused.
    fn refuses(&self, now: Cycle) -> Option<Refusal> {
        let (cause, changes) = self.refused?;
        let lasts = !matches!(cause, Refusal::Port | Refusal::Bank);
        (lasts && self.l1d.changes(cause, now) == changes).then_some(cause)
    }

    /// Offers as many accesses as the L1D may take in a cycle, until it refuses one. It is the one of this number. A hint counts as
    /// the first of them.
    pub fn offer(
        &mut self,
        number: usize,
        traffic: &mut Traffic,
        oracle: &mut [Line],
        hint: Option<Hint>,
        now: Cycle,
    ) -> Result<(), String> {
        let mut most = self.l1d.accesses_per_cycle();
        if let Some(hint) = hint.or(self.held_hint) {
            if !self.offer_hint(hint, now)? {
                return Ok(());
            }
            most -= 1;
        }
        for _ in 0..most {
            self.offer_one(number, traffic, oracle, now)?;
            if self.held.is_some() {
                break;
            }
        }
        Ok(())
    }

    fn offer_one(
        &mut self,
        number: usize,
        traffic: &mut Traffic,
        oracle: &mut [Line],
        now: Cycle,
    ) -> Result<(), String> {
        if self.held.is_none() && self.left > 0 {
            let Some(token) = self.under_way.iter().position(Option::is_none) else { return Ok(()) };
            self.held = Some(traffic.next(number, token as u32));
            self.left -= 1;
        }
        let Some(access) = self.held.take() else { return Ok(()) };
        let refuses = self.refuses(now);
        if let Some(cause) = refuses
            && self.retries == Retries::Told
        {
            self.l1d.count_refusals(cause, 1);
            self.held = Some(access);
            return Ok(());
        }
        let token = access.token as usize;
        let mut expected = Expected { access: access.clone(), line: None, old: None };
        self.refused = None;
        if let Err((access, cause)) = self.l1d.offer(access, now) {
            self.refused = Some((cause, self.l1d.changes(cause, now)));
            if access.token as usize != token || access.line != expected.access.line {
                return Err("another access came back than was refused".to_owned());
            }
            self.held = Some(access);
            return Ok(());
        }
        if self.flushing {
            return Err("an access was taken during a flush".to_owned());
        }
        if refuses.is_some() && self.retries == Retries::Checked {
            return Err("an access was taken although nothing had changed since it was refused".to_owned());
        }
        let line = &mut oracle[expected.access.line.0 as usize];
        match &mut expected.access.action {
            Action::Load(_) => expected.line = Some(Box::new(line.clone())),
            Action::Store(tray) => line.merge(expected.access.bytes, tray),
            Action::Atomic(batch) => {
                batch.perform(line);
                expected.old = (traffic.is_exact() && batch.returns).then_some(batch.a);
            }
        }
        self.under_way[token] = Some(expected);
        Ok(())
    }
}

/// Makes the L1D of a network node. It sends the requests for each line to the slice that the map names.
pub type Make<'a> = dyn FnMut(NodeId, SliceMap) -> Box<dyn L1d> + 'a;

pub(super) struct World {
    contract: Contract,
    slices: SliceMap,
    clients: Vec<Client>,
    memory: Memory,
    oracle: Vec<Line>,
    traffic: Traffic,
    stream: Stream,
    hints: Stream,
    now: Cycle,
    moved: Cycle,
    hash: Fnv,
}

impl World {
    pub fn new(contract: Contract, make: &mut Make<'_>) -> World {
        let slices =
            SliceMap::new(contract.slices, 256, NodeId::from(contract.l1ds)).expect("slices interleave");
        let slice_count = usize::from(contract.slices);
        let memory = Memory::new(contract.l1ds, slice_count, contract.lines, contract.delay, contract.seed);
        let client = |node| Client::new(make(NodeId::from(node), slices));
        World {
            contract,
            slices,
            clients: (0..contract.l1ds).map(client).collect(),
            oracle: memory.lines.clone(),
            memory,
            traffic: Traffic::new(contract),
            stream: Stream::new(contract.seed, "contract world"),
            hints: Stream::new(contract.seed, "contract hints"),
            now: Cycle::ZERO,
            moved: Cycle::ZERO,
            hash: Fnv::default(),
        }
    }

    pub fn run(mut self) -> Result<Outcome, String> {
        for episode in 0..self.contract.episodes {
            for client in &mut self.clients {
                (client.left, client.hints_left) = (self.contract.accesses, self.contract.hints_an_episode());
            }
            while !self.clients.iter().all(Client::is_idle) {
                self.cycle()?;
            }
            // A single L1D may keep copies: nobody else writes. With several, bytes change owners.
            let invalidate = self.contract.l1ds > 1 || self.stream.below(2) == 0;
            self.flush_all(invalidate).map_err(|fault| format!("episode {episode}: {fault}"))?;
            if invalidate {
                self.resize(episode);
                self.write_behind();
            }
            self.traffic.new_episode();
        }
        let statistics: Vec<_> = self.clients.iter().map(|client| client.l1d.statistics()).collect();
        lawful(statistics.iter().flatten())?;
        Ok(Outcome { cycles: self.now.0, hash: self.hash.finish(), statistics })
    }

    fn flush_all(&mut self, invalidate: bool) -> Result<(), String> {
        let now = self.now;
        for client in &mut self.clients {
            client.l1d.begin_flush(invalidate, now);
            client.flushing = true;
        }
        while self.clients.iter().any(|client| client.flushing || client.l1d.outstanding() > 0) {
            self.cycle()?;
        }
        for (place, (line, oracle)) in self.memory.lines.iter().zip(&self.oracle).enumerate() {
            same(oracle, line, ByteMask::ALL, || format!("memory line {place} after a flush of all"))?;
        }
        Ok(())
    }

    /// Gives every L1D the next of the contract's capacities.
    fn resize(&mut self, episode: u32) {
        if let Some(capacities) = self.contract.capacities {
            let bytes = capacities[episode as usize % capacities.len()];
            self.clients.iter_mut().for_each(|client| client.l1d.resize(bytes));
        }
    }

    /// Somebody else writes memory: only copies that were dropped do not show it.
    fn write_behind(&mut self) {
        for line in 0..self.oracle.len() {
            if self.stream.below(3) == 0 {
                let byte = self.stream.below(128) as usize;
                self.oracle[line].0[byte] ^= 0x5a;
                self.memory.lines[line].0[byte] ^= 0x5a;
            }
        }
    }

    fn cycle(&mut self) -> Result<(), String> {
        let now = self.now;
        self.memory.tick(now);
        for index in 0..self.clients.len() {
            self.client_cycle(index).map_err(|fault| format!("cycle {now}, L1D {index}: {fault}"))?;
        }
        if now.since(self.moved) > PATIENCE {
            let mut report = Vec::new();
            self.clients.iter().for_each(|client| client.l1d.waits(&mut report));
            let lost: usize =
                self.clients.iter().map(|client| client.under_way.iter().flatten().count()).sum();
            let waits = report.join("; ");
            return Err(format!(
                "cycle {now}: nothing moves any more; {lost} accesses are under way; {waits}"
            ));
        }
        self.now = now.next();
        Ok(())
    }

    fn client_cycle(&mut self, index: usize) -> Result<(), String> {
        let now = self.now;
        // The same numbers are drawn whatever happens, so that skipping changes nothing here.
        let reads = 2 * u64::from(self.stream.below(100) < self.contract.willing);
        let takes = self.stream.below(100) < self.contract.willing;
        let fence = self.stream.below(400) == 0;
        let drops = self.stream.below(2) == 0;

        let client = &mut self.clients[index];
        let reads = reads * u64::from(client.l1d.accesses_per_cycle());
        if let Some(reply) = self.memory.reply(index, now) {
            client.l1d.accept(reply, now);
            self.moved = now;
        }
        let due = client.l1d.next_event(now) <= now;
        if due || !self.contract.skip {
            client.l1d.tick(now);
        }
        for _ in 0..reads {
            let Some(completion) = client.l1d.completed(now) else { break };
            if !due {
                return Err("an access was completed before the next event".to_owned());
            }
            self.moved = now;
            let expected = client.under_way.get_mut(completion.token as usize).and_then(Option::take);
            let Some(expected) = expected else {
                return Err(format!("access {} was completed, but is not under way", completion.token));
            };
            note(&mut self.hash, now, index, &completion);
            verify(&expected, &completion)?;
        }
        if takes {
            let bytes = client.l1d.outgoing_bytes(now);
            let packet = client.l1d.outgoing(now);
            if bytes != packet.as_ref().map(|packet| packet.wire_bytes()) {
                return Err("outgoing_bytes does not say what outgoing returns".to_owned());
            }
            if let Some(packet) = packet {
                if !due {
                    return Err("a packet left before the next event".to_owned());
                }
                let (source, destination) = (NodeId::from(index), self.slices.node_of(packet.line));
                if packet.source != source || packet.destination != destination || packet.bytes.is_empty() {
                    return Err(format!("a packet is wrongly addressed or empty: {packet:?}"));
                }
                self.moved = now;
                self.memory.send(packet, now);
            }
        }
        let client = &self.clients[index];
        if client.l1d.outstanding() < self.memory.open[index] {
            return Err("requests are under way that outstanding() does not count".to_owned());
        }
        if client.flushing {
            self.look_at_flush(index)?;
        } else if fence && client.left > 0 {
            let invalidate = drops;
            self.clients[index].l1d.begin_flush(invalidate, now);
            self.clients[index].flushing = true;
        }
        let hint = self.next_hint(index);
        self.clients[index].offer(index, &mut self.traffic, &mut self.oracle, hint, now)
    }

    /// A line that the program wishes for, in some cycles; it may be one behind those that are accessed.
    fn next_hint(&mut self, index: usize) -> Option<Hint> {
        let client = &mut self.clients[index];
        let may_wish = client.left > 0 && client.hints_left > 0 && client.held_hint.is_none();
        if !may_wish || self.hints.below(100) >= self.contract.hints {
            return None;
        }
        client.hints_left -= 1;
        let line = LineAddress(self.hints.below(self.contract.lines + 2));
        let part = ByteMask::range(16 * self.hints.below(8) as usize, 16);
        let (is_whole, is_below) = (self.hints.below(2) == 0, self.hints.below(3) == 0);
        let bytes = if is_whole { ByteMask::ALL } else { part };
        let level = if is_below { HintLevel::Llc } else { HintLevel::L1d };
        Some(Hint { line, bytes, level, origin: Origin { pc: 4 * self.hints.below(8) as u32, warp: 0 } })
    }

    /// Checks after a flush that memory holds the bytes that only this L1D writes.
    fn look_at_flush(&mut self, index: usize) -> Result<(), String> {
        if !self.clients[index].l1d.is_flushed() {
            return Ok(());
        }
        self.clients[index].flushing = false;
        // An atomic under way may still change memory after the oracle.
        let atomics = |expected: &Expected| matches!(expected.access.action, Action::Atomic(_));
        if self.clients[index].under_way.iter().flatten().any(atomics) {
            return Ok(());
        }
        for (place, (line, oracle)) in self.memory.lines.iter().zip(&self.oracle).enumerate() {
            let own = self.traffic.own(index, place);
            same(oracle, line, own, || format!("memory line {place} after a flush"))?;
        }
        Ok(())
    }
}

pub(super) fn verify(expected: &Expected, completion: &Completion) -> Result<(), String> {
    let access = &expected.access;
    match (&completion.action, &access.action) {
        (Action::Load(tray), Action::Load(_)) => {
            let line = expected.line.as_ref().expect("a load has its expectation");
            same(line, tray, access.bytes, || format!("a {:?} load of line {}", access.policy, access.line.0))
        }
        (Action::Store(_), Action::Store(_)) => Ok(()),
        (Action::Atomic(batch), Action::Atomic(sent)) => match expected.old {
            Some(old) if old[..usize::from(sent.count)] != batch.a[..usize::from(sent.count)] => {
                Err(format!("an atomic on line {} brought other old values", access.line.0))
            }
            _ => Ok(()),
        },
        _ => Err(format!("access {} was completed as something else", completion.token)),
    }
}

pub(super) fn same(
    expected: &Line,
    found: &Line,
    bytes: ByteMask,
    what: impl Fn() -> String,
) -> Result<(), String> {
    for byte in 0..128 {
        if bytes.0 >> byte & 1 == 1 && expected.0[byte] != found.0[byte] {
            let (expected, found) = (expected.0[byte], found.0[byte]);
            return Err(format!("{}: byte {byte} is {found:#x}, expected {expected:#x}", what()));
        }
    }
    Ok(())
}

pub(super) fn note(hash: &mut Fnv, now: Cycle, index: usize, completion: &Completion) {
    hash.write(&now.0.to_le_bytes());
    hash.write(&[index as u8, completion.token as u8]);
    if let Action::Atomic(batch) = &completion.action
        && batch.returns
    {
        batch.a.iter().for_each(|old| hash.write(&old.to_le_bytes()));
    }
}
