//! What launches and host phases count: in all, and by what was asked for.

use strata_engine::statistics::Group;

use super::Modelled;
use crate::results::{Before, Breakdown, By, Counted, merge_groups, since};

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
                By::Sm | By::Slice | By::Channel => breakdown.parts = parts,
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
            }
        }
        counted
    }

    /// All counters, and those of each part that was asked for.
    pub(super) fn before(&mut self) -> Before {
        Before { all: self.gpu.statistics(), parts: self.parts() }
    }
}
