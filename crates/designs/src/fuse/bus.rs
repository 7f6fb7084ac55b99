//! The internal data bus between the cache controller and the banks (III-A, Fig. 5): one line at a time.

use strata_engine::Cycle;

/// The bus, and until when it carries lines. As wide as one line a cycle it is also the SRAM bank's one port.
#[derive(Clone, Debug)]
pub(super) struct Bus {
    line_cycles: u64,
    /// The first cycle in which it can start to carry a line.
    free_at: Cycle,
}

impl Bus {
    /// A bus that carries a line in so many cycles.
    pub fn new(line_cycles: u64) -> Bus {
        Bus { line_cycles, free_at: Cycle::ZERO }
    }

    /// The first cycle in which it can start to carry a line.
    #[inline]
    pub fn free_at(&self) -> Cycle {
        self.free_at
    }

    /// Carries a line; after those that it carries already.
    #[inline]
    pub fn carry(&mut self, now: Cycle) {
        self.free_at = self.free_at.max(now) + self.line_cycles;
    }
}
