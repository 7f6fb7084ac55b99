//! What the unit waits for, for the report of a run that is stuck.

use super::Lsu;
use super::entry::{Entry, OWN};

impl Lsu {
    /// Adds one sentence to `report` for each instruction in flight, refused access and waiting fence.
    pub fn waits(&self, report: &mut Vec<String>) {
        for entry in self.table.iter() {
            let Entry { warp, line, pc, open, global, local_left, shared, constant, .. } = entry;
            report.push(format!(
                "warp {warp}: memory instruction at line {line} (pc {pc}), issued in cycle {}, waits for {open} \
                 parts; lanes not offered yet: global {global:#x}, local {local_left:#x}, constant \
                 {constant:#x}; lanes in shared memory {shared:#x}",
                entry.issued
            ));
        }
        if let Some(lanes) = &self.lanes {
            lanes.path.waits(report);
        }
        if let Some(behind) = &self.behind {
            behind.part.waits(report);
        }
        if let Some((place, line)) = self.device.held()
            && place == OWN
        {
            report.push(format!("the L1D refuses line {line} of the lane path"));
        } else if let Some((place, line)) = self.device.held() {
            report.push(format!("the L1D refuses line {line} of warp {}", self.table.get(place).warp));
        }
        let mut waiting = self.fences.waiting();
        while waiting != 0 {
            let warp = waiting.trailing_zeros() as u8;
            waiting &= waiting - 1;
            report.push(format!(
                "warp {warp}: its fence is {:?}, {} of its accesses are not performed",
                self.fences.state(warp),
                self.fences.unperformed(warp)
            ));
        }
    }
}
