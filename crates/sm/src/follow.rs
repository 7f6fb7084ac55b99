//! What an SM tells the [recorder](crate::path) of the critical path. All of it is out of line, and called only in SMs that keep a ledger.

use strata_engine::Cycle;
use strata_memory::bits::members;
use strata_ptx::isa::Pc;

use crate::doors::Doors;
use crate::path::{FollowedWaits, PathRecorder, Wait};
use crate::sm::Sm;
use crate::statistics::Stall;

impl<D: Doors> Sm<D> {
    /// Whether the critical path is asked for.
    #[inline]
    pub(crate) fn follows(&self) -> bool {
        D::EXTRAS && self.lsu.follows()
    }

    /// Tells the recorder something, if the critical path is asked for.
    #[inline]
    pub(crate) fn follow(&mut self, tell: impl FnOnce(&mut PathRecorder)) {
        if D::EXTRAS
            && let Some(path) = self.lsu.path()
        {
            tell(path);
        }
    }

    /// What a scheduler's warps wait for.
    fn followed_waits(&self, scheduler: usize) -> FollowedWaits {
        let share = self.shares[scheduler];
        let reads = self.warps.blocked_by_reads | self.behind_memory(share);
        let mut of = [(0, Some(Wait::Unknown)); Stall::COUNT + 1];
        let mut operands = 0;
        for (place, (warps, stall)) in of.iter_mut().zip(self.waits_of_each()) {
            *place = match Wait::of(stall) {
                None if stall == Stall::Execution => {
                    operands = warps & reads;
                    (warps & !reads, None)
                }
                wait => (warps, wait),
            };
        }
        of[Stall::COUNT] = (operands, Some(Wait::Operands));
        FollowedWaits { share, of }
    }

    /// Tells what a scheduler's warps wait for from a cycle on, if somebody wants to know.
    #[inline]
    pub(crate) fn follow_waits(&mut self, scheduler: usize, from: Cycle) {
        if self.lsu.follows() {
            self.follow_with_waits(scheduler, |path, waits, missed| path.waits(waits, missed, from));
        }
    }

    /// Tells that a warp issues an instruction, if somebody wants to know.
    #[inline]
    pub(crate) fn follow_issue(&mut self, scheduler: usize, issued: (usize, Pc), now: Cycle) {
        if self.lsu.follows() {
            self.follow_with_waits(scheduler, |path, waits, missed| path.issued(waits, issued, missed, now));
        }
    }

    #[cold]
    #[inline(never)]
    fn follow_with_waits(
        &mut self,
        scheduler: usize,
        tell: impl FnOnce(&mut PathRecorder, &FollowedWaits, u64),
    ) {
        let waits = self.followed_waits(scheduler);
        let missed = self.fetch.forget_misses(waits.share);
        self.follow(|path| tell(path, &waits, missed));
    }

    /// Warps whose next instruction waits until earlier memory instructions have come to the load/store unit, and for no register.
    fn behind_memory(&self, share: u64) -> u64 {
        let waits = |warp: &usize| {
            let micro = &self.micro[self.fetch.head(*warp) as usize];
            micro.follows_memory
                && self.collecting_memory[*warp] > 0
                && self.scoreboard.awaited(*warp, micro, false).is_none()
        };
        let blocked = self.warps.blocked & !self.warps.blocked_by_memory & self.fetch.have() & share;
        members(blocked).filter(waits).fold(0, |warps, warp| warps | 1 << warp)
    }

    /// Operands of instructions have arrived: those of collectors that were not ready before.
    #[inline(never)]
    pub(crate) fn follow_operands(&mut self, ready_before: u64, now: Cycle) {
        for index in members(self.collectors.ready() & !ready_before) {
            let collected = self.collectors.get(index);
            self.follow(|path| path.operands(collected.warp.into(), collected.pc, now));
        }
    }

    /// An instruction comes to a unit.
    #[inline(never)]
    pub(crate) fn follow_dispatch(&mut self, index: usize, now: Cycle) {
        let collected = self.collectors.get(index);
        let class = self.micro[collected.pc as usize].class;
        let finished = now + self.units.latency(class);
        self.follow(|path| path.dispatched(collected.warp.into(), collected.pc, now, Some(finished)));
    }
}
