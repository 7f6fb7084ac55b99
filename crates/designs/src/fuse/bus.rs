//! The internal data bus between the cache controller and the banks (III-A, Fig. 5): one line at a time.

use strata_engine::Cycle;

/// The bus, and the cycle until which it is occupied. If it carries one line per cycle, it also models the
/// single port of the SRAM bank.
#[derive(Clone, Debug)]
pub(super) struct Bus {
    line_cycles: u64,
    /// The first cycle in which it can start to carry a line.
    free_at: Cycle,
}

impl Bus {
    /// Makes a bus that carries a line in `line_cycles` cycles.
    pub fn new(line_cycles: u64) -> Bus {
        Bus { line_cycles, free_at: Cycle::ZERO }
    }

    /// The first cycle in which it can start to carry a line.
    #[inline]
    pub fn free_at(&self) -> Cycle {
        self.free_at
    }

    /// Carries a line, after those that it has already accepted.
    #[inline]
    pub fn carry(&mut self, now: Cycle) {
        self.free_at = self.free_at.max(now) + self.line_cycles;
    }
}
