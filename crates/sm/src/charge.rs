//! Charging issue slots to instructions and CTAs, and recording what warps wait for, in SMs that keep a ledger.

use strata_engine::Cycle;
use strata_ptx::isa::{Class, Instruction, Pc};

use crate::doors::Doors;
use crate::ledger::{Loss, Waiting};
use crate::record::Waits;
use crate::sm::Sm;
use crate::statistics::Stall;

impl<D: Doors> Sm<D> {
    /// Charges a scheduler's slots from a cycle on, all lost for what these of its warps wait for now.
    #[inline(always)]
    pub(crate) fn charge_stall(
        &mut self,
        scheduler: usize,
        stalled: (Stall, u64),
        (from, slots): (Cycle, u64),
    ) {
        if self.lsu.has_ledger() {
            self.charge_stall_now(scheduler, stalled, (from, slots));
        }
    }

    #[inline(never)]
    fn charge_stall_now(&mut self, scheduler: usize, stalled: (Stall, u64), (from, slots): (Cycle, u64)) {
        self.record_waits(scheduler, from);
        self.follow_waits(scheduler, from);
        let Some(ledger) = self.lsu.ledger() else { return };
        if !ledger.has_accounts() {
            return;
        }
        let waiting = ledger.choose(scheduler, stalled, from).map(|warp| self.waiting_for(warp, stalled.0));
        if let Some(ledger) = self.lsu.ledger() {
            ledger.lose(scheduler, stalled.0, waiting, slots);
        }
    }

    /// Charges the slot of an instruction that a warp issues.
    #[inline(never)]
    pub(crate) fn charge_issue(
        &mut self,
        scheduler: usize,
        (warp, pc): (usize, Pc),
        of: (&Instruction, Class),
        lanes: (u32, u32),
        now: Cycle,
    ) {
        self.follow_issue(scheduler, (warp, pc), now);
        self.record_waits(scheduler, now);
        if let Some(ledger) = self.lsu.ledger() {
            ledger.issued(scheduler, (warp, pc), of, lanes, now);
        }
    }

    /// Records what a scheduler's warps wait for from a cycle on, if that is asked for.
    #[inline]
    fn record_waits(&mut self, scheduler: usize, from: Cycle) {
        if self.lsu.records() {
            self.record_waits_now(scheduler, from);
        }
    }

    #[cold]
    #[inline(never)]
    fn record_waits_now(&mut self, scheduler: usize, from: Cycle) {
        let share = self.shares[scheduler];
        let waits = Waits { share, of: self.waits_of_each(), queued: self.lsu.queued() };
        self.lsu.ledger().expect("who records has a ledger").waits(&waits, from);
    }

    /// Charges a scheduler's slots of cycles in which nothing has changed since the issue stage came to rest.
    #[inline]
    pub(crate) fn charge_quiet_stall(&mut self, scheduler: usize, slots: u64) {
        if let Some(ledger) = self.lsu.ledger() {
            ledger.lose_quietly(scheduler, slots);
        }
    }

    /// Charges a slot in which a warp turned to other lanes instead of issuing an instruction.
    #[inline]
    pub(crate) fn charge_turn(&mut self, warp: usize, pc: u32) {
        if let Some(ledger) = self.lsu.ledger() {
            let waiting = Waiting { at: ledger.at(warp, pc), producer: None };
            ledger.charge_loss(Loss { cause: Stall::Control, waiting: Some(waiting), slots: 1 });
        }
    }

    /// The instruction at which a warp waits for a cause, and the one whose result it waits for.
    #[inline(always)]
    fn waiting_for(&mut self, warp: usize, cause: Stall) -> Waiting {
        let head = self.fetch.head(warp);
        let by_reads = self.warps.blocked_by_reads & 1 << warp != 0;
        let awaited = |memory| self.scoreboard.awaited(warp, &self.micro[head as usize], memory);
        let awaited = match cause {
            Stall::Memory => awaited(true),
            Stall::Execution if !by_reads => awaited(false),
            _ => None,
        };
        let ledger = self.lsu.ledger().expect("who charges has a ledger");
        let at = match cause {
            // The last instruction has been issued, and makes the warp wait.
            Stall::Control
            | Stall::Barrier
            | Stall::Fence
            | Stall::Copies
            | Stall::Sleep
            | Stall::Drained
            | Stall::NoWarp => ledger.last(warp),
            Stall::LsuFull
            | Stall::CollectorFull
            | Stall::Inactive
            | Stall::Memory
            | Stall::Execution
            | Stall::Fetch => ledger.at(warp, head),
        };
        Waiting { at, producer: awaited.map(|awaited| ledger.writer(warp, awaited)) }
    }

    /// The warps by what each waits for, as [`Sm::stalled`] ranks causes.
    pub(crate) fn waits_of_each(&self) -> [(u64, Stall); Stall::COUNT] {
        let warps = &self.warps;
        let have = self.fetch.have();
        let without_collector = self.without_collector();
        let for_lsu = if self.lsu.can_accept() { 0 } else { self.demands.of_lsu() };
        let mut left = u64::MAX;
        let mut take = |warps: u64| {
            let taken = left & warps;
            left &= !taken;
            taken
        };
        [
            (take(!warps.resident), Stall::NoWarp),
            (take(warps.resolving), Stall::Control),
            (take(warps.at_barrier), Stall::Barrier),
            (take(warps.exited), Stall::Drained),
            (take(warps.at_fence), Stall::Fence),
            (take(warps.at_copies), Stall::Copies),
            (take(warps.asleep), Stall::Sleep),
            (take(!have), Stall::Fetch),
            (take(warps.blocked & warps.blocked_by_memory), Stall::Memory),
            (take(warps.blocked), Stall::Execution),
            (take(without_collector & for_lsu), Stall::LsuFull),
            (take(without_collector), Stall::CollectorFull),
            (take(u64::MAX), Stall::Inactive),
        ]
    }
}
