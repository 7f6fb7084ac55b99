//! Memories for the tests of the SM and its parts: plain bytes behind the doors of an L1D and of a read-only cache.

use std::collections::VecDeque;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::doors::{Access, Action, Completion, Hint, Hinted, L1d, LineNews, Policy, Refusal};
use strata_memory::read_only::ReadOnly;
use strata_memory::{LINE_BYTES, Line, LineAddress, Packet};

/// First address of the fake memory.
pub const BASE: u64 = 0x10_0000;
/// Size of the fake memory in bytes.
pub const BYTES: usize = 1 << 16;

/// Plain memory whose first byte is at [`BASE`].
#[derive(Clone)]
pub struct Memory(pub Vec<u8>);

impl Memory {
    /// Memory in which every byte is the low byte of its address.
    pub fn low_bytes() -> Memory {
        Memory((0..BYTES).map(|at| at as u8).collect())
    }

    /// Memory whose contents differ from line to line.
    pub fn numbered() -> Memory {
        Memory((0..BYTES).map(|at| (at * 7 + at / 256 * 13) as u8).collect())
    }

    fn line(&self, line: LineAddress) -> Line {
        let at = (line.base().0 - BASE) as usize;
        Line(self.0[at..at + LINE_BYTES].try_into().unwrap())
    }

    fn set_line(&mut self, line: LineAddress, bytes: &Line) {
        let at = (line.base().0 - BASE) as usize;
        self.0[at..at + LINE_BYTES].copy_from_slice(&bytes.0);
    }
}

/// An L1D that performs an access when it accepts it and answers after `latency` cycles.
pub struct FakeL1d {
    pub memory: Memory,
    pub latency: u64,
    pub flush_latency: u64,
    /// Accesses that it takes in a cycle.
    pub width: u32,
    taken: (Cycle, u32),
    /// Cycles in which it refuses accesses.
    pub refuse: Vec<u64>,
    /// Whether it says when to offer again what it refused; otherwise it is offered in every cycle.
    pub tells: bool,
    /// Refusals for want of an MSHR, and offers of accesses.
    pub refused: u64,
    pub offers: u64,
    /// Accesses taken that were the first of their instructions.
    pub led: u64,
    /// What becomes of hints that it does not refuse.
    pub hinted: Hinted,
    /// A line of text for every access, hint and flush.
    pub log: Vec<String>,
    /// News that a test has placed here, and whether it was asked for any.
    pub news: VecDeque<LineNews>,
    pub tells_news: bool,
    /// Packets that a test has placed here for the network.
    pub outgoing: VecDeque<Packet>,
    answers: VecDeque<(Cycle, Completion)>,
    flushed_at: Option<Cycle>,
    now: Cycle,
}

impl FakeL1d {
    pub fn new(memory: Memory, latency: u64) -> FakeL1d {
        FakeL1d {
            memory,
            latency,
            flush_latency: 10,
            width: u32::MAX,
            taken: (Cycle::ZERO, 0),
            refuse: Vec::new(),
            tells: false,
            refused: 0,
            offers: 0,
            led: 0,
            hinted: Hinted::Taken,
            log: Vec::new(),
            news: VecDeque::new(),
            tells_news: false,
            outgoing: VecDeque::new(),
            answers: VecDeque::new(),
            flushed_at: None,
            now: Cycle::ZERO,
        }
    }
}

impl L1d for FakeL1d {
    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        self.offers += 1;
        if !self.is_flushed() {
            return Err((access, Refusal::Flush));
        }
        if self.refuse.contains(&now.0) {
            self.refused += 1;
            return Err((access, Refusal::Mshr));
        }
        let taken = if self.taken.0 == now { self.taken.1 } else { 0 };
        if taken == self.width {
            return Err((access, Refusal::Port));
        }
        self.taken = (now, taken + 1);
        self.led += u64::from(access.leads);
        let mut line = self.memory.line(access.line);
        let (name, action) = match access.action {
            Action::Load(mut tray) => {
                // Poison the bytes that were not requested.
                *tray = Line([0xee; LINE_BYTES]);
                tray.merge(access.bytes, &line);
                ("load", Action::Load(tray))
            }
            Action::Store(tray) => {
                line.merge(access.bytes, &tray);
                ("store", Action::Store(tray))
            }
            Action::Atomic(mut batch) => {
                batch.perform(&mut line);
                ("atomic", Action::Atomic(batch))
            }
        };
        self.memory.set_line(access.line, &line);
        let past = if access.policy == Policy::Bypass { " bypass" } else { "" };
        let offset = access.line.base().0 - BASE;
        self.log.push(format!("{now}: {name} {offset:#x} {} bytes{past}", access.bytes.count()));
        self.answers.push_back((now + self.latency, Completion { token: access.token, action }));
        Ok(())
    }

    fn hint(&mut self, hint: &Hint, now: Cycle) -> Result<Hinted, Refusal> {
        if self.refuse.contains(&now.0) {
            return Err(Refusal::Network);
        }
        let (level, offset) = (hint.level, hint.line.base().0 - BASE);
        self.log.push(format!("{now}: wish {level:?} {offset:#x} {} bytes", hint.bytes.count()));
        Ok(self.hinted)
    }

    fn changes(&self, _: Refusal, now: Cycle) -> u64 {
        if self.tells { u64::from(!self.refuse.contains(&now.0)) } else { now.0 }
    }

    fn count_refusals(&mut self, cause: Refusal, cycles: u64) -> bool {
        assert_eq!(cause, Refusal::Mshr);
        self.refused += cycles;
        true
    }

    fn accept(&mut self, reply: Packet, _: Cycle) {
        panic!("nothing was asked of the network: {reply:?}");
    }

    fn tick(&mut self, now: Cycle) {
        self.now = now;
    }

    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        let due = self.answers.front()?.0 <= now;
        if due { self.answers.pop_front().map(|(_, completion)| completion) } else { None }
    }

    fn outgoing(&mut self, _: Cycle) -> Option<Packet> {
        self.outgoing.pop_front()
    }

    fn outgoing_bytes(&self, _: Cycle) -> Option<u32> {
        self.outgoing.front().map(|packet| packet.wire_bytes())
    }

    fn tell_news(&mut self) {
        self.tells_news = true;
    }

    fn news(&mut self) -> Option<LineNews> {
        self.news.pop_front()
    }

    fn begin_flush(&mut self, invalidate: bool, now: Cycle) {
        assert!(self.is_flushed() && invalidate);
        self.log.push(format!("{now}: flush"));
        self.flushed_at = Some(now + self.flush_latency);
    }

    fn is_flushed(&self) -> bool {
        self.flushed_at.is_none_or(|at| at <= self.now)
    }

    fn outstanding(&self) -> usize {
        self.answers.len()
    }

    fn next_event(&self, _: Cycle) -> Cycle {
        let answer = self.answers.front().map_or(Cycle::NEVER, |(at, _)| *at);
        let flush = self.flushed_at.filter(|at| *at > self.now).unwrap_or(Cycle::NEVER);
        answer.min(flush)
    }

    fn waits(&self, _: &mut Vec<String>) {}

    fn statistics(&self) -> Vec<Group> {
        Vec::new()
    }
}

/// A read-only cache that holds every line and answers after `latency` cycles. Addresses below the memory, such as
/// code, read as zero.
pub struct FakeReadOnly {
    pub memory: Memory,
    pub latency: u64,
    /// Cycle, line and token of every request.
    pub asked: Vec<(Cycle, LineAddress, u32)>,
    /// Packets that a test has placed here for the network.
    pub outgoing: VecDeque<Packet>,
    here: VecDeque<(Cycle, LineAddress, u32)>,
    taken: Line,
}

impl FakeReadOnly {
    pub fn new(memory: Memory, latency: u64) -> FakeReadOnly {
        FakeReadOnly {
            memory,
            latency,
            asked: Vec::new(),
            outgoing: VecDeque::new(),
            here: VecDeque::new(),
            taken: Line::ZERO,
        }
    }
}

impl ReadOnly for FakeReadOnly {
    fn request(&mut self, line: LineAddress, token: u32, now: Cycle) -> bool {
        self.asked.push((now, line, token));
        self.here.push_back((now + self.latency, line, token));
        true
    }

    fn arrived(&mut self, now: Cycle) -> Option<(u32, &Line)> {
        if self.here.front()?.0 > now {
            return None;
        }
        let (_, line, token) = self.here.pop_front()?;
        self.taken = if line.base().0 < BASE { Line::ZERO } else { self.memory.line(line) };
        Some((token, &self.taken))
    }

    fn accept(&mut self, reply: Packet, _: Cycle) {
        panic!("nothing was asked of the network: {reply:?}");
    }

    fn outgoing(&mut self, _: Cycle) -> Option<Packet> {
        self.outgoing.pop_front()
    }

    fn outgoing_bytes(&self, _: Cycle) -> Option<u32> {
        self.outgoing.front().map(|packet| packet.wire_bytes())
    }

    fn invalidate(&mut self) {}

    fn next_event(&self, now: Cycle) -> Cycle {
        self.here.front().map_or(Cycle::NEVER, |(at, ..)| *at).max(now)
    }

    fn waits(&self, _: &mut Vec<String>) {}

    fn statistics(&self) -> Vec<Group> {
        Vec::new()
    }
}
