//! What an SM records for a trace: what its warps issue and wait for, and what becomes of their accesses.

use std::sync::Arc;

use strata_engine::{Cycle, Log};
use strata_memory::bits::members;
use strata_memory::{Level, LineAddress, TouchKind};
use strata_ptx::isa::Pc;

use crate::statistics::Stall;

/// An event of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SmEvent {
    /// A warp issues an instruction, which `lanes` lanes execute.
    Issued { warp: u8, pc: Pc, cta: u64, lanes: u32 },
    /// From now on a warp waits for something else; [`Stall::Inactive`]: for its turn; [`Stall::NoWarp`]: its slot is empty.
    Waits { warp: u8, cause: Stall },
    /// From now on so many instructions occupy the front of the load/store unit.
    Queued { instructions: u32 },
    /// The L1D takes an access of an instruction that came to the load/store unit in cycle `issued`. `waits`: its bytes are read.
    Access { token: u32, warp: u8, pc: Pc, line: LineAddress, bytes: u32, waits: bool, issued: Cycle },
    /// The L1D has performed an access.
    Completed { token: u32 },
    /// The load/store unit has everything that an instruction waits for; its results are written in cycle `written`.
    Ended { warp: u8, pc: Pc, issued: Cycle, written: Cycle },
    /// A packet leaves the L1D. `words`: those that it asks for, where words have owners.
    Sent { line: LineAddress, tag: u32, kind: TouchKind, words: Option<u32> },
    /// The answer to a packet has come to the L1D: to that of this tag, or where words have owners, to one that asked for these words.
    Answered { line: LineAddress, tag: u32, level: Level, words: Option<u32> },
    /// From now on so many requests of the L1D await their answers.
    Outstanding { requests: u32 },
}

/// Where an SM records its events.
pub type SmLog = Log<SmEvent>;

/// What the warps of a scheduler wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits {
    /// Its warps.
    pub share: u64,
    /// All warps of the SM, by what they wait for.
    pub of: [(u64, Stall); Stall::COUNT],
    /// Instructions in the front of the load/store unit.
    pub queued: u32,
}

/// Records the events of an SM's pipeline.
#[derive(Debug)]
pub(crate) struct Recorder {
    log: Arc<SmLog>,
    /// Warps whose instructions and waits are recorded.
    warps: u64,
    /// By cause, the warps that were said to wait for it.
    waiting: [u64; Stall::COUNT],
    queued: u32,
    /// The first cycle of the launch in which something was said.
    first: Option<Cycle>,
    /// Whether what held when the log opened has been recorded.
    has_begun: bool,
}

impl Recorder {
    pub fn new(log: Arc<SmLog>, warps: u64) -> Recorder {
        Recorder { log, warps, waiting: [0; Stall::COUNT], queued: 0, first: None, has_begun: false }
    }

    /// A launch begins.
    pub fn begin(&mut self) {
        (self.waiting, self.queued) = ([0; Stall::COUNT], 0);
        (self.first, self.has_begun) = (None, false);
    }

    /// Whether nothing is recorded from this cycle of the launch on.
    pub fn is_over(&self, now: Cycle) -> bool {
        self.log.is_over(now)
    }

    pub fn record(&self, now: Cycle, event: SmEvent) {
        self.log.record(now, event);
    }

    /// Records an event of a warp, if it is one that is recorded.
    pub fn record_of(&self, warp: u8, now: Cycle, event: SmEvent) {
        if self.warps >> warp & 1 == 1 {
            self.record(now, event);
        }
    }

    /// What warps wait for from now on.
    pub fn waits(&mut self, waits: &Waits, now: Cycle) {
        let Waits { share, ref of, queued } = *waits;
        if self.log.is_over(now) {
            return;
        }
        let first = *self.first.get_or_insert(now);
        if !self.has_begun && self.log.is_open(now) {
            self.has_begun = true;
            self.record_all(self.log.from().max(first));
        }
        for (warps, cause) in of {
            let known = self.waiting[*cause as usize];
            for warp in members(warps & share & !known & self.warps) {
                self.log.record(now, SmEvent::Waits { warp: warp as u8, cause: *cause });
            }
            self.waiting[*cause as usize] = known & !share | warps & share;
        }
        if queued != self.queued {
            self.queued = queued;
            self.log.record(now, SmEvent::Queued { instructions: queued });
        }
    }

    /// A warp's slot is empty from now on.
    pub fn leaves(&mut self, warp: usize, now: Cycle) {
        self.waiting.iter_mut().for_each(|warps| *warps &= !(1 << warp));
        self.waiting[Stall::NoWarp as usize] |= 1 << warp;
        let warp = warp as u8;
        self.record_of(warp, now, SmEvent::Waits { warp, cause: Stall::NoWarp });
    }

    fn record_all(&self, now: Cycle) {
        for (cause, warps) in Stall::ALL.into_iter().zip(self.waiting) {
            for warp in members(warps & self.warps) {
                self.log.record(now, SmEvent::Waits { warp: warp as u8, cause });
            }
        }
        self.log.record(now, SmEvent::Queued { instructions: self.queued });
    }
}
