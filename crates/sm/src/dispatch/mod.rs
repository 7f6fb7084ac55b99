//! The CTA dispatcher: an island that distributes the CTAs of grids over the SMs.
//!
//! Programs' grids run one after another on the first SMs. Other SMs may have a resident grid, which lives across those and
//! does not keep them from ending; the rest have none. Which SM gets the next CTA is a policy, one file each.

mod blocks;
mod depth_first;
mod grid;
mod limited;
mod links;
mod policy;
mod round_robin;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use strata_engine::{Cycle, Doorbell, Island, Window};

pub use blocks::Blocks;
pub use depth_first::DepthFirst;
pub use limited::Limited;
pub use links::{Command, Notice, SmLinks};
pub use policy::{Dispatch, DispatchPolicy, GridSite, Picks, SmView};
pub use round_robin::RoundRobin;

use grid::Grid;
use links::{Flush, Sm};

strata_memory::policy_family! {
    DispatchPolicy:
    "round-robin" => RoundRobin,
    "depth-first" => DepthFirst,
    "limited" => Limited,
    "blocks" => Blocks,
}

/// Starts CTAs in grid order on the SMs that a policy picks, at most one per SM and cycle. Once all CTAs of a program's grid
/// have finished, it has the L1Ds of its SMs flushed.
pub struct Dispatcher {
    sms: Vec<Sm>,
    policy: Arc<dyn DispatchPolicy>,
    /// The program's grid.
    grid: Grid,
    /// The grid that lives on other SMs.
    resident: Grid,
    flushed: usize,
    finished_at: Option<Cycle>,
    progress: u64,
    /// Progress for observers: how many CTAs have finished.
    meter: Arc<AtomicU64>,
}

impl Dispatcher {
    /// A dispatcher with no grid, connected to these SMs, which are all for programs and get CTAs in turn.
    pub fn new(links: Vec<SmLinks>) -> Self {
        let sms: Vec<Sm> = links.into_iter().map(|links| Sm { links, room: 0, flush: Flush::Done }).collect();
        Dispatcher {
            policy: Arc::new(RoundRobin::default()),
            grid: Grid::none(0..sms.len()),
            sms,
            resident: Grid::none(0..0),
            flushed: 0,
            finished_at: None,
            progress: 0,
            meter: Arc::default(),
        }
    }

    /// Leaves only the first `sms` SMs, at least one, to programs.
    pub fn with_programs_on(mut self, sms: usize) -> Self {
        self.grid.sms = 0..sms.clamp(1, self.sms.len());
        self
    }

    /// Has a policy say which SM gets the next CTA of a program's grid. Resident grids go round.
    pub fn with_policy(self, policy: Arc<dyn DispatchPolicy>) -> Self {
        Dispatcher { policy, ..self }
    }

    /// Publishes the number of finished CTAs of the program's grid in `meter`, for observers. The model never reads it.
    pub fn report_to(&mut self, meter: Arc<AtomicU64>) {
        self.meter = meter;
    }

    /// Starts a program's grid of `ctas` CTAs, the first one not before `from`; each SM holds up to `per_sm` of them at once.
    ///
    /// # Panics
    /// When another one is running, or `per_sm` is 0.
    pub fn begin(&mut self, ctas: u64, per_sm: u32, from: Cycle) {
        self.begin_clusters(ctas, 1, per_sm, from);
    }

    /// As [`Dispatcher::begin`], of clusters of `cluster` CTAs, each of which goes to one SM.
    ///
    /// # Panics
    /// When another one is running, or a cluster does not fit an SM.
    pub fn begin_clusters(&mut self, ctas: u64, cluster: u32, per_sm: u32, from: Cycle) {
        let range = self.grid.sms.clone();
        let sms = &mut self.sms[range.clone()];
        assert!(sms.iter().all(|sm| sm.flush == Flush::Done), "grids of programs run one after another");
        assert!(per_sm > 0 && per_sm >= cluster, "a grid is begun when its CTAs fit");
        self.grid = Grid::begin(range, (ctas, cluster, per_sm), from, &*self.policy);
        for sm in sms {
            (sm.room, sm.flush) = (self.grid.most_per_sm(), Flush::ToSend);
        }
        self.flushed = 0;
        self.finished_at = None;
    }

    /// Starts a grid of `per_sm` CTAs for each of `sms`, SMs that run no programs. It lives until its CTAs end.
    ///
    /// # Panics
    /// When one of the SMs runs programs.
    pub fn begin_resident(&mut self, sms: Range<usize>, per_sm: u32) {
        assert!(sms.start >= self.grid.sms.end, "a resident grid has SMs of its own");
        for sm in &mut self.sms[sms.clone()] {
            sm.room = per_sm;
        }
        let ctas = sms.len() as u64 * u64::from(per_sm);
        self.resident = Grid::begin(sms, (ctas, 1, per_sm), Cycle::ZERO, &RoundRobin::default());
    }

    /// CTAs of the program's grid that an SM has at once, at most.
    pub fn most_per_sm(&self) -> u32 {
        self.grid.most_per_sm()
    }

    /// Whether every CTA of the program's grid has finished and every L1D of its SMs is flushed.
    pub fn finished(&self) -> bool {
        self.finished_at.is_some()
    }

    /// The cycle in which the last flush notice arrived; `None` while the program's grid runs.
    pub fn finished_at(&self) -> Option<Cycle> {
        self.finished_at
    }

    fn receive(&mut self, now: Cycle) {
        for (index, sm) in self.sms.iter_mut().enumerate() {
            while let Some(notice) = sm.links.notices.receive(now) {
                sm.links.notices.release(1, now);
                self.progress += 1;
                match notice {
                    Notice::CtaDone if index >= self.grid.sms.end => self.resident.end_cta(),
                    Notice::CtaDone => {
                        self.grid.end_cta();
                        self.meter.store(self.grid.done, Ordering::Relaxed);
                        sm.room += 1;
                    }
                    Notice::Flushed => {
                        sm.flush = Flush::Done;
                        self.flushed += 1;
                        if self.flushed == self.grid.sms.len() {
                            self.finished_at = Some(now);
                        }
                    }
                }
            }
        }
    }

    fn flush_all(&mut self, now: Cycle) {
        for sm in &mut self.sms {
            if sm.flush == Flush::ToSend && sm.links.commands.send(Command::Flush, 1, now).is_ok() {
                sm.flush = Flush::Sent;
                self.progress += 1;
            }
        }
    }
}

impl Island for Dispatcher {
    fn hang(&mut self, bell: &Doorbell) {
        for sm in &self.sms {
            sm.links.commands.hang(bell);
            sm.links.notices.hang(bell);
        }
    }

    fn collect(&mut self, window: Window) {
        for sm in &mut self.sms {
            sm.links.commands.collect(window);
            sm.links.notices.collect(window);
        }
    }

    fn tick(&mut self, now: Cycle) {
        self.receive(now);
        self.progress += self.grid.hand_out(&mut self.sms, now);
        self.progress += self.resident.hand_out(&mut self.sms, now);
        if self.grid.done == self.grid.ctas {
            self.flush_all(now);
        }
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        let arrival = self.sms.iter().map(|sm| sm.links.notices.next_arrival()).min().unwrap_or(Cycle::NEVER);
        let start = self.grid.next_start(&self.sms, now).min(self.resident.next_start(&self.sms, now));
        let can_flush =
            self.grid.done == self.grid.ctas && self.sms.iter().any(|sm| sm.flush == Flush::ToSend);
        if can_flush { now } else { arrival.max(now).min(start) }
    }

    fn flush(&mut self, window: Window) -> Cycle {
        self.sms
            .iter_mut()
            .map(|sm| sm.links.commands.flush(window).min(sm.links.notices.flush(window)))
            .min()
            .unwrap_or(Cycle::NEVER)
    }

    fn progress(&self) -> u64 {
        self.progress
    }

    fn waits(&self, report: &mut Vec<String>) {
        let Grid { ctas, next, done, .. } = self.grid;
        if done < ctas {
            let (running, waiting) = (next - done, ctas - next);
            report.push(format!(
                "dispatcher: {done} of {ctas} CTAs have ended, {running} run, {waiting} wait for room"
            ));
        }
        for (index, sm) in self.sms.iter().enumerate() {
            if sm.flush == Flush::Sent {
                report.push(format!("dispatcher: waits for SM {index} to flush its L1D"));
            }
        }
    }
}

#[cfg(test)]
mod tests;
