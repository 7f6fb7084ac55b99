//! The issue stage: selects the instructions to issue, and finds the stall cause when a scheduler issues none.

use strata_engine::Cycle;
use strata_memory::bits::members;
use strata_memory::doors::{RegisterFile, Ticket};
use strata_ptx::exec::InPlace;
use strata_ptx::isa::{Class, Op, Space};
use strata_ptx::simt::Gathering;

use crate::control::gather;
use crate::doors::Doors;
use crate::launch::{FaultKind, Launch};
use crate::quiet::{Inputs, SCHEDULERS};
use crate::scheduler::{Scheduler, View};
use crate::scoreboard::Hazard;
use crate::sm::Sm;
use crate::statistics::Stall;
use crate::target::Target;

impl<D: Doors> Sm<D> {
    /// Lets each scheduler issue one instruction, or counts why it issued none.
    pub(crate) fn issue(&mut self, launch: &Launch, now: Cycle) {
        if self.warps.asleep != 0 {
            self.wake(now);
        }
        if !self.barrier_unit.is_idle() {
            self.release_due(launch, now);
        }
        if self.is_quiet {
            if self.warps.dirty & self.fetch.have() == 0
                && self.released == 0
                && self.quiet.inputs == self.inputs()
            {
                return;
            }
            self.account_gap(now);
            self.is_quiet = false;
        }
        self.refresh(launch);
        self.accounted = now.next();
        let mut idle = self.released == 0;
        let (ready, waiting) = (self.issuable(), self.waiting());
        if ready == 0 && !self.looks_at_waiting() {
            for scheduler in 0..self.shares.len() {
                self.stall(scheduler, now);
            }
        } else {
            let held = if D::EXTRAS && self.throttle.is_some() { self.hold(launch, ready, now) } else { 0 };
            // What is held back may issue in a later cycle without another event.
            idle &= self.pick(launch, ready & !held, waiting, now) && held == 0;
        }
        // A warp released by a barrier resumes in the next cycle.
        self.warps.at_barrier &= !self.released;
        self.released = 0;
        if idle {
            self.is_quiet = true;
            self.quiet.inputs = self.inputs();
        }
    }

    /// Lets each scheduler pick a warp. Returns whether none did and none would in the next cycle.
    #[inline(always)]
    fn pick(&mut self, launch: &Launch, mut ready: u64, mut waiting: u64, now: Cycle) -> bool {
        let mut idle = true;
        for scheduler in 0..self.schedulers.len() {
            let share = self.shares[scheduler];
            let view = View { ready: ready & share, waiting: waiting & share };
            match self.schedulers[scheduler].pick(view) {
                Some(warp) => {
                    if self.issue_one(launch, scheduler, warp, now) {
                        self.schedulers[scheduler].issued_memory();
                    }
                    // Issuing takes collectors, and changes nothing else for the warps of other schedulers.
                    ready &= !self.without_collector();
                    waiting = self.waiting();
                    idle = false;
                }
                None => {
                    self.stall(scheduler, now);
                    idle = idle && self.schedulers[scheduler].is_settled(view);
                }
            }
        }
        idle
    }

    /// Of these warps, those whose next instruction is a load that the throttle holds back.
    #[cold]
    #[inline(never)]
    fn hold(&mut self, launch: &Launch, ready: u64, now: Cycle) -> u64 {
        let is_load = |warp: &usize| loads(&launch.kernel.code[self.fetch.head(*warp) as usize].op);
        let loads = members(ready).filter(is_load).fold(0, |loads, warp| loads | 1 << warp);
        let moment = self.moment(now);
        match &mut self.throttle {
            Some(throttle) if loads != 0 => throttle.hold(loads, moment),
            _ => 0,
        }
    }

    /// Counts a scheduler's slot as lost, and notes why.
    #[inline]
    fn stall(&mut self, scheduler: usize, now: Cycle) {
        let (cause, warps) = self.stalled(self.shares[scheduler]);
        self.tally.stall(cause, 1);
        self.quiet.causes[scheduler % SCHEDULERS] = cause;
        if D::EXTRAS {
            self.charge_stall(scheduler, (cause, warps), (now, 1));
        }
    }

    /// Counts the uncounted cycles before `now`, in which nothing changed.
    pub(crate) fn account_gap(&mut self, now: Cycle) {
        let gap = now.since(self.accounted);
        if gap == 0 {
            return;
        }
        let from = std::mem::replace(&mut self.accounted, now);
        for scheduler in 0..self.schedulers.len() {
            if self.is_quiet {
                self.tally.stall(self.quiet.causes[scheduler % SCHEDULERS], gap);
                if D::EXTRAS {
                    self.charge_quiet_stall(scheduler, gap);
                }
            } else {
                let (cause, warps) = self.stalled(self.shares[scheduler]);
                self.tally.stall(cause, gap);
                if D::EXTRAS {
                    self.charge_stall(scheduler, (cause, warps), (from, gap));
                }
            }
        }
    }

    #[inline]
    fn inputs(&self) -> Inputs {
        let warps = &self.warps;
        let full_pools = self.collectors.full();
        Inputs {
            have: self.fetch.have(),
            resident: warps.resident,
            exited: warps.exited,
            at_barrier: warps.at_barrier,
            at_fence: warps.at_fence,
            at_copies: warps.at_copies,
            asleep: warps.asleep,
            resolving: warps.resolving,
            blocked: warps.blocked,
            blocked_by_memory: warps.blocked_by_memory,
            full_pools,
            lsu_accepts: full_pools == 0 || self.lsu.can_accept(),
        }
    }

    fn wake(&mut self, now: Cycle) {
        for warp in members(self.warps.asleep) {
            if self.warps.wake[warp] <= now {
                self.warps.asleep &= !(1 << warp);
            }
        }
    }

    /// Warps whose next instruction could issue if a collector were free.
    #[inline]
    fn eligible(&self) -> u64 {
        self.fetch.have() & !self.warps.blocked & !self.warps.held()
    }

    /// Eligible warps for which a collector is free.
    #[inline]
    fn issuable(&self) -> u64 {
        self.eligible() & !self.without_collector()
    }

    /// Warps whose next instruction needs a collector of a pool in which their sub-core has none free.
    #[inline]
    pub(crate) fn without_collector(&self) -> u64 {
        self.collectors.full_parts().fold(0, |all, (pool, warps)| all | self.demands.of_pool(pool) & warps)
    }

    #[inline(always)]
    fn looks_at_waiting(&self) -> bool {
        D::EXTRAS && self.looks_at_waiting
    }

    /// Warps in a long wait, if a scheduler looks at them.
    #[inline]
    fn waiting(&self) -> u64 {
        if !self.looks_at_waiting() {
            return 0;
        }
        let warps = &self.warps;
        let by_memory = warps.blocked & warps.blocked_by_memory & self.fetch.have();
        by_memory | warps.at_barrier | warps.at_fence | warps.at_copies | warps.asleep
    }

    /// Whether the issue or fetch stage would change anything in the next cycle.
    pub(crate) fn can_issue_or_fetch(&self) -> bool {
        if self.fetch.wants() || self.warps.dirty & self.fetch.have() != 0 {
            return true;
        }
        // Only fetch follows the issue stage, and what it delivers marks its warp dirty.
        if self.is_quiet {
            return false;
        }
        if self.issuable() != 0 {
            return true;
        }
        if !self.looks_at_waiting() {
            return false;
        }
        let waiting = self.waiting();
        let unsettled = |(scheduler, share): (&Scheduler, &u64)| {
            !scheduler.is_settled(View { ready: 0, waiting: waiting & share })
        };
        self.schedulers.iter().zip(&self.shares).any(unsettled)
    }

    /// Re-evaluates warps that have a new next instruction or for which a register was released.
    fn refresh(&mut self, launch: &Launch) {
        let warps = &mut self.warps;
        let dirty = warps.dirty & self.fetch.have();
        let (mut blocked, mut by_memory, mut by_reads) = (0, 0, 0);
        for warp in members(dirty) {
            let bit = 1 << warp;
            let pc = self.fetch.head(warp) as usize;
            let micro = &self.micro[pc];
            self.demands.set(warp, micro.demand);
            // A warp has room for the result of one barrier.
            if micro.is_barrier && warps.barrier_results_due & bit != 0 {
                blocked |= bit;
                continue;
            }
            let code = &launch.kernel.code;
            match self.scoreboard.check(warp, micro, &code[pc]) {
                Hazard::Memory => by_memory |= bit,
                Hazard::Execution => blocked |= bit,
                Hazard::None
                    if micro.writes_any() && self.collectors.still_reads(warp, &code[pc].write_set, code) =>
                {
                    by_reads |= bit;
                }
                // An instruction that orders itself after earlier memory instructions must wait until the load/store
                // unit has them all.
                Hazard::None if micro.follows_memory && self.collecting_memory[warp] > 0 => blocked |= bit,
                Hazard::None => {}
            }
        }
        if D::EXTRAS {
            blocked |= dirty & warps.in_subroutine;
        }
        warps.dirty &= !dirty;
        warps.blocked = warps.blocked & !dirty | blocked | by_memory | by_reads;
        warps.blocked_by_memory = warps.blocked_by_memory & !dirty | by_memory;
        warps.blocked_by_reads = warps.blocked_by_reads & !dirty | by_reads;
    }

    /// Issues a warp's next instruction. Returns whether it accesses memory.
    #[inline(always)]
    fn issue_one(&mut self, launch: &Launch, scheduler: usize, warp: usize, now: Cycle) -> bool {
        let pc = self.fetch.head(warp);
        let micro = &self.micro[pc as usize];
        let active = self.warps.simt[warp].active();
        let lanes = self.warps.guarded(warp, micro.guard);
        self.warps.dirty |= 1 << warp;
        if micro.waits_for_lanes {
            let value = |register| match &self.beside {
                Some(beside) if D::EXTRAS => *beside.peek(warp as u8, register),
                _ => self.registers.peek(warp as u8, register),
            };
            match gather(launch, &mut self.warps, value, warp, pc, lanes) {
                Gathering::Complete => {}
                Gathering::Later => {
                    // The slot went into turning to other lanes; the instruction is issued later.
                    self.fetch.take(warp);
                    self.fetch.go(warp, self.warps.simt[warp].pc());
                    self.tally.stall(Stall::Control, 1);
                    if D::EXTRAS {
                        self.charge_turn(warp, pc);
                    }
                    return false;
                }
                Gathering::Never => {
                    self.fail(launch, warp, pc, lanes, FaultKind::MissingLanes);
                    return false;
                }
            }
        }
        let statistics = &mut self.statistics;
        statistics.issued += 1;
        statistics.active_lanes += u64::from(active.count_ones());
        self.tally.issue(micro.class, lanes.count_ones());
        let micro = if D::EXTRAS && self.lsu.has_ledger() {
            let of = (&launch.kernel.code[pc as usize], micro.class);
            self.charge_issue(scheduler, (warp, pc), of, (active.count_ones(), lanes.count_ones()), now);
            &self.micro[pc as usize]
        } else {
            micro
        };

        let is_control = micro.target.is_none_or(|target| target == Target::CONTROL);
        let target = match micro.target {
            Some(target) if !is_control => {
                let simt = &mut self.warps.simt[warp];
                simt.advance();
                self.fetch.issue(warp, simt.pc());
                if lanes == 0 {
                    return false;
                }
                target
            }
            Some(target) if lanes != 0 => {
                self.fetch.take(warp);
                self.warps.resolving |= 1 << warp;
                target
            }
            _ => {
                self.fetch.take(warp);
                self.control(launch, warp, pc, lanes, now);
                return false;
            }
        };
        let instruction = &launch.kernel.code[pc as usize];
        self.warps.in_flight[warp] += 1;
        if D::EXTRAS {
            if let Some(path) = self.lsu.path() {
                path.flies(warp, pc);
            }
            self.warps.in_subroutine |= u64::from(micro.is_subroutine) << warp;
        }
        let local = self.sub_cores.local(warp, target);
        let index = self.collectors.take(local);
        let target = self.sub_cores.target(local);
        self.collectors.enter(index, target, (warp as u8, pc, lanes), micro.reads);
        if let Some(routine) = micro.routine
            && let Some(banks) = self.registers.banks()
        {
            self.scoreboard.reserve(warp, micro, instruction, false);
            banks.request_read(
                warp as u8,
                instruction.reads.as_slice(),
                &micro.reads_from,
                Ticket(index as u16),
            );
            let mut operands = InPlace {
                instruction,
                registers: banks.rows(warp as u8),
                constants: &launch.constants,
                predicates: &mut self.warps.predicates[warp],
            };
            routine(instruction, &mut operands, lanes, &self.warps.contexts[warp]);
            return false;
        }
        let memory = micro.class == Class::Memory;
        if memory {
            self.collecting_memory[warp] += 1;
            // Until the instruction reaches the load/store unit, only this mask knows of its fence or its copy.
            let holds = instruction.fences || D::EXTRAS && self.lsu.holds_warp(instruction.op);
            self.warps.resolving |= u64::from(holds) << warp;
        }
        if !is_control {
            self.scoreboard.reserve(warp, micro, instruction, memory);
        }
        let (reads_from, predicates) = (&micro.reads_from, &self.warps.predicates[warp]);
        if D::EXTRAS
            && let Some(beside) = &mut self.beside
        {
            let numbers = launch.kernel.accesses[pc as usize].reads.as_slice();
            let of = (index, instruction, numbers);
            self.collectors.request_beside(of, predicates, (beside, &mut *self.registers), now);
            return memory;
        }
        self.collectors.request(index, instruction, reads_from, predicates, &mut *self.registers, now);
        memory
    }

    /// Why a scheduler of the warps in `share` has nothing to issue, and the warps that wait for that. The inputs change only through
    /// events, so the answer also holds for skipped cycles.
    #[inline(always)]
    pub(crate) fn stalled(&self, share: u64) -> (Stall, u64) {
        let warps = &self.warps;
        let resident = warps.resident & share;
        if resident == 0 {
            return (Stall::NoWarp, 0);
        }
        let free = resident & !warps.held();
        let have = self.fetch.have() & free;
        let eligible = have & !warps.blocked;
        if eligible != 0 {
            let inactive = eligible & !self.without_collector();
            if inactive != 0 {
                return (Stall::Inactive, inactive);
            }
            let for_lsu = eligible & self.demands.of_lsu();
            return match for_lsu != 0 && !self.lsu.can_accept() {
                true => (Stall::LsuFull, for_lsu),
                false => (Stall::CollectorFull, eligible),
            };
        }
        let blocked = have & warps.blocked;
        if blocked != 0 {
            let by_memory = blocked & warps.blocked_by_memory;
            return if by_memory != 0 { (Stall::Memory, by_memory) } else { (Stall::Execution, blocked) };
        }
        let causes = [
            (warps.resolving & resident, Stall::Control),
            (warps.at_barrier & resident, Stall::Barrier),
            (warps.at_fence & resident & !warps.exited, Stall::Fence),
            (warps.at_copies & resident & !warps.exited, Stall::Copies),
            (free & !have, Stall::Fetch),
            (warps.asleep & resident, Stall::Sleep),
        ];
        let found = causes.into_iter().find(|(warps, _)| *warps != 0);
        found.map_or((Stall::Drained, resident), |(warps, cause)| (cause, warps))
    }
}

/// Whether an instruction brings lines into the L1D by reading them.
fn loads(op: &Op) -> bool {
    match op {
        Op::Load(mode) => matches!(mode.space, Space::Generic | Space::Global | Space::Local),
        Op::Texture(_) | Op::SurfaceLoad(_) => true,
        _ => false,
    }
}
