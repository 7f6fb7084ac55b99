//! The STT-MRAM bank: reads as fast as SRAM, writes several cycles long, one at a time.

use strata_engine::Cycle;

use super::approximation::Approximation;
use super::places::Places;

/// The bank, and until when it works.
#[derive(Clone, Debug)]
pub(super) struct SttBank {
    pub places: Places,
    /// How tags are searched when not all at once.
    pub approximation: Option<Approximation>,
    pub read_cycles: u64,
    pub write_cycles: u64,
    /// The first cycle in which it can start something.
    free_at: Cycle,
    /// What it does until then.
    writing: bool,
    /// Writes of each frame since the start: wear.
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

    /// Whether it can start something.
    #[inline]
    pub fn is_free(&self, now: Cycle) -> bool {
        self.free_at <= now
    }

    /// The first cycle in which it can start something.
    #[inline]
    pub fn free_at(&self) -> Cycle {
        self.free_at
    }

    /// Whether a write keeps it from starting something.
    #[inline]
    pub fn is_writing(&self, now: Cycle) -> bool {
        self.writing && self.free_at > now
    }

    /// Reads a line; after what it does already.
    #[inline]
    pub fn read(&mut self, now: Cycle) {
        self.free_at = self.free_at.max(now) + self.read_cycles;
        self.writing = false;
    }

    /// Writes a line (Table I: 5 cycles); after what it does already.
    #[inline]
    pub fn write(&mut self, place: usize, now: Cycle) {
        self.free_at = self.free_at.max(now) + self.write_cycles;
        self.writing = true;
        self.wear[place] += 1;
    }

    /// Writes of the frame that was written most.
    pub fn hottest(&self) -> u64 {
        self.wear.iter().copied().max().unwrap_or(0)
    }
}
