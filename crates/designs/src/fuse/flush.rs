//! Flushes: the tag queue and the swap buffer are emptied first, then every bank.

use strata_engine::Cycle;

use super::l1d::{Bug, FuseL1d};

impl FuseL1d {
    /// One step of a flush. Accesses and migrations that were taken before are served first, so that every line is
    /// in a bank when the banks are written back; nothing new is taken meanwhile.
    #[inline]
    pub(super) fn flush_step(&mut self, now: Cycle) {
        if !self.has_work_inside() || self.has(Bug::QueuesNotEmptied) {
            self.chassis.flush_step(now);
        }
    }
}
