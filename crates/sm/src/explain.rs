//! The SM's part of the deadlock report; generated only when nothing makes progress any more.

use strata_memory::bits::members;
use strata_memory::doors::{L1d, RegisterFile};
use strata_memory::read_only::ReadOnly;

use crate::doors::Doors;
use crate::sm::Sm;

impl<D: Doors> Sm<D> {
    /// Adds one sentence to `report` for each resident warp and each component that waits.
    pub(crate) fn explain(&self, report: &mut Vec<String>) {
        let first = report.len();
        let Some(launch) = &self.launch else { return };
        let lines = |pcs: &mut dyn Iterator<Item = u32>| {
            let lines: Vec<_> = pcs.map(|pc| launch.kernel.code[pc as usize].line.to_string()).collect();
            lines.join(", ")
        };
        for warp in members(self.warps.resident) {
            let cta = self.ctas.get(self.warps.cta[warp] as usize);
            let place =
                format!("warp {warp} (CTA {:?}, its warp {})", cta.place, self.warps.contexts[warp].warp);
            let in_flight = self.warps.in_flight[warp];
            if self.warps.exited >> warp & 1 == 1 {
                report.push(format!("{place}: has ended; {in_flight} instructions are under way"));
                continue;
            }
            let pc = self.warps.simt[warp].pc();
            let line = launch.kernel.code.get(pc as usize).map_or(0, |instruction| instruction.line);
            let is = |mask: u64| mask >> warp & 1 == 1;
            let why = if is(self.warps.at_barrier) {
                match self.barriers.waiting(self.warps.cta[warp] as usize, warp) {
                    Some((barrier, arrived, 0)) => {
                        let live = cta.live;
                        format!("at barrier {barrier}: {arrived} threads of {live} warps have arrived")
                    }
                    Some((barrier, arrived, expected)) => {
                        format!("at barrier {barrier}: {arrived} of {expected} threads have arrived")
                    }
                    None => match self.barrier_unit.due(warp) {
                        Some(due) => format!("at a barrier that lets it go in cycle {due}"),
                        None => "at the barrier of its cluster".to_owned(),
                    },
                }
            } else if is(self.warps.at_fence) {
                format!("at a fence: {:?}", self.lsu.fence_state(warp as u8))
            } else if is(self.warps.at_copies) {
                "waits for its asynchronous copies".to_owned()
            } else if is(self.warps.asleep) {
                format!("asleep until cycle {}", self.warps.wake[warp])
            } else if is(self.warps.resolving) {
                format!("waits for the operands of line {}", lines(&mut self.collectors.of_warp(warp as u8)))
            } else if !is(self.fetch.have()) {
                "waits for its next instruction from the instruction cache".to_owned()
            } else if is(self.warps.blocked) {
                let what = if is(self.warps.blocked_by_memory) { "from memory" } else { "to be computed" };
                format!("waits for values {what}; {in_flight} instructions are under way")
            } else {
                "could issue, but finds no operand collector".to_owned()
            };
            report.push(format!("{place}: next is line {line} (pc {pc}); {why}"));
        }
        self.registers.waits(report);
        self.lsu.waits(report);
        self.l1d.waits(report);
        self.constants.waits(report);
        self.instructions.waits(report);
        if let Some(second) = &self.second {
            second.waits(report);
        }
        if let Some(mmu) = &self.mmu {
            mmu.waits(report);
        }
        for sentence in &mut report[first..] {
            sentence.insert_str(0, &format!("SM {}: ", self.id.0));
        }
    }
}
