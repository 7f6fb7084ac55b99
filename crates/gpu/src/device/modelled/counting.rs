//! What launches and host phases count: in all, and by what was asked for.

use strata_engine::statistics::Group;
use strata_ptx::isa::Pc;
use strata_sm::Launch;

use super::Modelled;
use crate::device::heap::Heap;
use crate::program::line_name;
use crate::results::{Before, Breakdown, By, Counted, ELSEWHERE, merge_groups, since};

impl Modelled {
    /// Breaks counters of the launches that are measured down from now on. A whole run's begin with what was counted before its
    /// first launch, while SMs in cache mode got their kernel.
    pub fn break_down(&mut self, by: &[By]) {
        self.breakdowns = by.iter().copied().map(Breakdown::new).collect();
        if !self.region.is_everything() {
            return;
        }
        let (all, parts) = (self.gpu.statistics(), self.parts());
        for (breakdown, parts) in self.breakdowns.iter_mut().zip(parts) {
            let is_nothing = all.iter().all(|group| group.values.iter().all(|value| *value == 0));
            match breakdown.by {
                By::Launch if is_nothing => {}
                By::Launch => breakdown.add_part("before the first launch", all.clone()),
                By::Sm | By::Slice | By::Channel => {
                    parts.into_iter().for_each(|part| breakdown.add_part(&part.name, part.groups));
                }
                _ => {}
            }
        }
    }

    /// The counters by what was asked for.
    pub fn breakdowns(&self) -> &[Breakdown] {
        &self.breakdowns
    }

    /// The counters so far by each part that was asked for.
    fn parts(&mut self) -> Vec<Vec<Counted>> {
        self.breakdowns.iter().map(|breakdown| self.gpu.parts(breakdown.by)).collect()
    }

    /// Adds what a launch or host phase counted since `before`, in all and by part.
    pub(super) fn count(
        &mut self,
        name: &str,
        before: &Before,
        cycles: u64,
        is_measured: bool,
    ) -> Vec<Group> {
        let counted = since(&self.gpu.statistics(), &before.all);
        if !is_measured {
            return counted;
        }
        merge_groups(&mut self.measured.0, counted.clone());
        self.measured.1 += cycles;
        let after = self.parts();
        for ((breakdown, before), after) in self.breakdowns.iter_mut().zip(&before.parts).zip(&after) {
            match breakdown.by {
                By::Launch => breakdown.add_part(name, counted.clone()),
                By::Sm | By::Slice | By::Channel => breakdown.add(before, after),
                _ => {}
            }
        }
        counted
    }

    /// Adds what a launch has charged to lines, CTAs and buffers, if it is measured.
    pub(super) fn add_accounts(&mut self, launch: &Launch, heap: &Heap, is_measured: bool) {
        for accounts in self.gpu.take_accounts() {
            let asked =
                self.breakdowns.iter_mut().filter(|of| is_measured && of.by.key() == Some(accounts.key));
            for breakdown in asked {
                if let Some(latencies) = &accounts.latencies {
                    let levels = latencies.levels(accounts.rest.served());
                    levels.into_iter().for_each(|(name, groups)| breakdown.add_part(name, groups));
                    continue;
                }
                for (index, account) in &accounts.of {
                    let name = name(breakdown.by, *index, launch, heap);
                    breakdown.add_part(&name, account.groups(accounts.key));
                }
                breakdown.add_part(ELSEWHERE, accounts.rest.groups(accounts.key));
            }
        }
    }

    /// Adds what a launch that has just ended had in queues.
    pub(super) fn add_queues(&mut self) {
        let parts = self.gpu.queues();
        for breakdown in self.breakdowns.iter_mut().filter(|of| of.by == By::Queue) {
            parts.iter().for_each(|(name, groups)| breakdown.add_part(name, groups.clone()));
        }
    }

    /// All counters, and those of each part that was asked for.
    pub(super) fn before(&mut self) -> Before {
        Before { all: self.gpu.statistics(), parts: self.parts() }
    }
}

/// The name in results of what accounts are kept of for a breakdown, by its index.
fn name(by: By, index: u64, launch: &Launch, heap: &Heap) -> String {
    let kernel = &launch.kernel;
    match by {
        By::Cta => format!("launch {} ({}) cta {index}", launch.number, kernel.name),
        By::Buffer => {
            let buffer = &heap.buffers()[index as usize];
            format!("{} ({:#x})", buffer.name, buffer.start)
        }
        _ => {
            let pc = index as Pc;
            let line = line_name(kernel, pc);
            if by == By::Instruction { format!("{line} #{pc} {}", kernel.instruction_text(pc)) } else { line }
        }
    }
}
