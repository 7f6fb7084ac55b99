//! Which level serves the bytes that accesses read, and after how many cycles.
//!
//! An access was served by the L1D if nothing of its line came to it in the meantime; else by the level that the last answer
//! came from.

use rustc_hash::FxHashMap;
use strata_engine::Cycle;
use strata_memory::{Level, LineAddress};

use super::event::At;

strata_engine::statistics! {
    /// Accesses of loads, atomics and texture fetches, by the level that served them.
    pub struct ServedStatistics: "served" {
        /// Accesses that the L1D served.
        l1d: "accesses",
        /// Their bytes.
        l1d_bytes: "bytes",
        /// Cycles from the L1D taking them to their completion.
        l1d_cycles: "cycles",
        /// Accesses that the last-level cache served,
        llc: "accesses",
        /// their bytes,
        llc_bytes: "bytes",
        /// and the cycles until their completion.
        llc_cycles: "cycles",
        /// Accesses that an SM in cache mode served,
        extended: "accesses",
        /// their bytes,
        extended_bytes: "bytes",
        /// and the cycles until their completion.
        extended_cycles: "cycles",
        /// Accesses that a memory-side cache or DRAM served,
        memory: "accesses",
        /// their bytes,
        memory_bytes: "bytes",
        /// and the cycles until their completion.
        memory_cycles: "cycles",
        /// Accesses that the owner of the words served,
        owner: "accesses",
        /// their bytes,
        owner_bytes: "bytes",
        /// and the cycles until their completion.
        owner_cycles: "cycles",
    }
    laws {
        "l1d accesses have bytes": |s| s.l1d <= s.l1d_bytes,
    }
}

/// Who served an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    L1d,
    Below(Level),
}

impl Source {
    pub const ALL: [Source; 5] = [
        Source::L1d,
        Source::Below(Level::Llc),
        Source::Below(Level::Extended),
        Source::Below(Level::Memory),
        Source::Below(Level::Owner),
    ];

    pub const fn place(self) -> usize {
        match self {
            Source::L1d => 0,
            Source::Below(Level::Llc) => 1,
            Source::Below(Level::Extended) => 2,
            Source::Below(Level::Memory) => 3,
            Source::Below(Level::Owner) => 4,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Source::L1d => "L1D",
            Source::Below(Level::Llc) => "LLC",
            Source::Below(Level::Extended) => "extended LLC",
            Source::Below(Level::Memory) => "DRAM",
            Source::Below(Level::Owner) => "owner",
        }
    }
}

impl ServedStatistics {
    /// Accesses, bytes and cycles of one level.
    pub(super) fn of(&self, source: Source) -> (u64, u64, u64) {
        match source {
            Source::L1d => (self.l1d, self.l1d_bytes, self.l1d_cycles),
            Source::Below(Level::Llc) => (self.llc, self.llc_bytes, self.llc_cycles),
            Source::Below(Level::Extended) => (self.extended, self.extended_bytes, self.extended_cycles),
            Source::Below(Level::Memory) => (self.memory, self.memory_bytes, self.memory_cycles),
            Source::Below(Level::Owner) => (self.owner, self.owner_bytes, self.owner_cycles),
        }
    }

    pub(super) fn count(&mut self, source: Source, bytes: u32, cycles: u64) {
        let (accesses, all_bytes, all_cycles) = match source {
            Source::L1d => (&mut self.l1d, &mut self.l1d_bytes, &mut self.l1d_cycles),
            Source::Below(Level::Llc) => (&mut self.llc, &mut self.llc_bytes, &mut self.llc_cycles),
            Source::Below(Level::Extended) => {
                (&mut self.extended, &mut self.extended_bytes, &mut self.extended_cycles)
            }
            Source::Below(Level::Memory) => {
                (&mut self.memory, &mut self.memory_bytes, &mut self.memory_cycles)
            }
            Source::Below(Level::Owner) => (&mut self.owner, &mut self.owner_bytes, &mut self.owner_cycles),
        };
        *accesses += 1;
        *all_bytes += u64::from(bytes);
        *all_cycles += cycles;
    }
}

/// An access at the L1D.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    pub at: At,
    pub line: LineAddress,
    pub bytes: u32,
    pub since: Cycle,
    pub waits: bool,
}

/// The accesses at the L1D, and the last answer about each line.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// By token.
    in_flight: Vec<Option<InFlight>>,
    last: FxHashMap<u64, (Cycle, Level)>,
}

impl Answers {
    pub fn accepted(&mut self, token: u32, access: InFlight) {
        let token = token as usize;
        if self.in_flight.len() <= token {
            self.in_flight.resize(token + 1, None);
        }
        self.in_flight[token] = Some(access);
    }

    pub fn answered(&mut self, line: LineAddress, level: Level, now: Cycle) {
        self.last.insert(line.0, (now, level));
    }

    pub fn completed(&mut self, token: u32) -> InFlight {
        self.in_flight[token as usize].take().expect("an access completes once it was taken")
    }

    pub fn source(&self, access: &InFlight) -> Source {
        match self.last.get(&access.line.0) {
            Some((at, level)) if *at > access.since => Source::Below(*level),
            _ => Source::L1d,
        }
    }
}
