//! The STT-MRAM bank: it reads as fast as SRAM, writes in several cycles, and does one thing at a time.

use strata_engine::Cycle;

use super::approximation::Approximation;
use super::places::Places;

/// The bank, and the cycle until which it is busy.
#[derive(Clone, Debug)]
pub(super) struct SttBank {
    pub places: Places,
    /// The associativity approximation; `None` if all tags of a set are compared at once.
    pub approximation: Option<Approximation>,
    pub read_cycles: u64,
    pub write_cycles: u64,
    /// The first cycle in which it can start a read or write.
    free_at: Cycle,
    /// Whether it is busy with a write until then.
    writing: bool,
    /// Number of writes to each frame since the start (wear).
    wear: Vec<u64>,
}

impl SttBank {
    pub fn new(
        places: Places,
        approximation: Option<Approximation>,
        read_cycles: u64,
        write_cycles: u64,
    ) -> SttBank {
        let wear = vec![0; places.frames()];
        SttBank {
            places,
            approximation,
            read_cycles,
            write_cycles,
            free_at: Cycle::ZERO,
            writing: false,
            wear,
        }
    }

    /// Whether it can start a read or write at `now`.
    #[inline]
    pub fn is_free(&self, now: Cycle) -> bool {
        self.free_at <= now
    }

    /// The first cycle in which it can start a read or write.
    #[inline]
    pub fn free_at(&self) -> Cycle {
        self.free_at
    }

    /// Whether it is busy with a write at `now`.
    #[inline]
    pub fn is_writing(&self, now: Cycle) -> bool {
        self.writing && self.free_at > now
    }

    /// Reads a line, after the work that it has already begun.
    #[inline]
    pub fn read(&mut self, now: Cycle) {
        self.free_at = self.free_at.max(now) + self.read_cycles;
        self.writing = false;
    }

    /// Writes a line (Table I: 5 cycles), after the work that it has already begun.
    #[inline]
    pub fn write(&mut self, place: usize, now: Cycle) {
        self.free_at = self.free_at.max(now) + self.write_cycles;
        self.writing = true;
        self.wear[place] += 1;
    }

    /// Number of writes to the most frequently written frame.
    pub fn hottest(&self) -> u64 {
        self.wear.iter().copied().max().unwrap_or(0)
    }
}
