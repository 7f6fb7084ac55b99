//! Charging lost issue slots to instructions and CTAs, in SMs that keep a ledger.

use strata_engine::Cycle;
use strata_memory::bits::members;

use crate::doors::Doors;
use crate::ledger::{Lost, Waiting};
use crate::sm::Sm;
use crate::statistics::Stall;

impl<D: Doors> Sm<D> {
    /// Charges a scheduler's slots from a cycle on, all lost for what it waits for now.
    #[inline]
    pub(crate) fn charge_stall(&mut self, scheduler: usize, from: Cycle, slots: u64) {
        if self.lsu.has_ledger() {
            let lost = self.lost(scheduler);
            self.lsu.ledger().expect("there is one").lose(&lost, from, slots);
        }
    }

    /// Charges a scheduler's slots from a cycle on, in which nothing has changed since the issue stage came to rest.
    #[inline]
    pub(crate) fn charge_quiet_stall(&mut self, scheduler: usize, from: Cycle, slots: u64) {
        if let Some(ledger) = self.lsu.ledger() {
            ledger.lose_quietly(scheduler, from, slots);
        }
    }

    /// Keeps in mind what slots are charged to while the issue stage is at rest.
    #[inline]
    pub(crate) fn rest_accounts(&mut self) {
        if !self.lsu.has_ledger() {
            return;
        }
        for scheduler in 0..self.schedulers.len() {
            let lost = self.lost(scheduler);
            self.lsu.ledger().expect("there is one").rest(scheduler, lost);
        }
    }

    /// Charges a slot in which a warp turned to other lanes instead of issuing an instruction.
    #[inline]
    pub(crate) fn charge_turn(&mut self, warp: usize, pc: u32, now: Cycle) {
        if let Some(ledger) = self.lsu.ledger() {
            let warps = vec![Waiting { at: ledger.at(warp, pc), producer: None }];
            ledger.lose(&Lost { cause: Stall::Control, warps }, now, 1);
        }
    }

    /// Why a scheduler has nothing to issue, and the instructions at which warps wait for that.
    #[inline(never)]
    fn lost(&mut self, scheduler: usize) -> Lost {
        let (cause, warps) = self.stalled(self.shares[scheduler]);
        Lost { cause, warps: members(warps).map(|warp| self.waiting_for(warp, cause)).collect() }
    }

    fn waiting_for(&mut self, warp: usize, cause: Stall) -> Waiting {
        let head = self.fetch.head(warp);
        let micro = &self.micro[head as usize % self.micro.len()];
        let by_reads = self.warps.blocked_by_reads & 1 << warp != 0;
        let pending = match cause {
            Stall::Memory => self.scoreboard.awaited(warp, micro, true),
            Stall::Execution if !by_reads => self.scoreboard.awaited(warp, micro, false),
            _ => None,
        };
        let ledger = self.lsu.ledger().expect("there is one");
        let at = match cause {
            // Of these, the last instruction has been issued, and makes the warp wait.
            Stall::Control
            | Stall::Barrier
            | Stall::Fence
            | Stall::Copies
            | Stall::Sleep
            | Stall::Drained
            | Stall::NoWarp => ledger.last(warp),
            _ => ledger.at(warp, head),
        };
        let producer = pending.map(|awaited| ledger.writer(warp, awaited));
        Waiting { at, producer }
    }
}
