//! Flushes: empty the tag queue and the swap buffer first, then write every bank back.

use strata_engine::Cycle;

use super::l1d::FuseL1d;

impl FuseL1d {
    /// Performs one step of a flush. Accesses and migrations accepted earlier are served first, so that every
    /// line is in a bank when the banks are written back. Nothing new is accepted meanwhile.
    #[inline]
    pub(super) fn flush_step(&mut self, now: Cycle) {
        if !self.has_work_inside() {
            self.chassis.flush_step(now);
        }
    }
}
