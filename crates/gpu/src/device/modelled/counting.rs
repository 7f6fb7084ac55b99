//! What launches and host phases count: in all, and by what was asked for.

use strata_engine::statistics::Group;
use strata_sm::{Key, Launch};

use super::Modelled;
use crate::device::heap::Heap;
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
                By::Line | By::Cta | By::Buffer => {}
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
                By::Line | By::Cta | By::Buffer => {}
            }
        }
        counted
    }

    /// Adds what a launch has charged to lines, CTAs and buffers, if it is measured.
    pub(super) fn add_accounts(&mut self, launch: &Launch, heap: &Heap, is_measured: bool) {
        for accounts in self.gpu.take_accounts() {
            let asked = self.breakdowns.iter_mut().find(|breakdown| breakdown.by.key() == Some(accounts.key));
            let Some(breakdown) = asked.filter(|_| is_measured) else { continue };
            let named = accounts
                .of
                .iter()
                .map(|(index, account)| (name(accounts.key, *index, launch, heap), account));
            let rest = std::iter::once((ELSEWHERE.to_owned(), &accounts.rest));
            for (name, account) in named.chain(rest) {
                breakdown.add_part(&name, account.groups(accounts.key));
            }
        }
    }

    /// All counters, and those of each part that was asked for.
    pub(super) fn before(&mut self) -> Before {
        Before { all: self.gpu.statistics(), parts: self.parts() }
    }
}

/// The name of a line, a CTA or a buffer in results.
fn name(key: Key, index: u64, launch: &Launch, heap: &Heap) -> String {
    let kernel = &launch.kernel;
    match key {
        Key::Instruction => match kernel.source(kernel.code[index as usize].line) {
            (Some(text), line) => format!("{} {text}:{line}", kernel.name),
            (None, line) => format!("{}:{line}", kernel.name),
        },
        Key::Cta => format!("launch {} ({}) cta {index}", launch.number, kernel.name),
        Key::Buffer => {
            let buffer = &heap.buffers()[index as usize];
            format!("{} ({:#x})", buffer.name, buffer.start)
        }
    }
}
