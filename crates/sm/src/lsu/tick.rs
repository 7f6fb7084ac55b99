//! What the unit does in a cycle: it collects lines and passes, advances fences, and offers the next accesses.

use strata_engine::Cycle;
use strata_memory::bits::members;
use strata_memory::doors::{Completion, L1d, LaneEvent};
use strata_memory::read_only::ReadOnly;
use strata_ptx::lanes::LaneMask;

use super::behind::BEHIND;
use super::device::{Accepted, Completed};
use super::entry::{OWN, Place};
use super::lanes::Waiter;
use super::{Lsu, moved};

/// The memories that the unit asked for something in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    /// The L1D was offered an access or told to flush.
    pub l1d: bool,
    /// The constant cache was asked for a line.
    pub constants: bool,
    /// The part behind the banks of shared memory has found a program's error ([`Lsu::take_wrong`]).
    pub wrong: bool,
}

impl Lsu {
    /// Takes the accesses that the L1D has completed.
    #[inline(always)]
    pub fn complete(&mut self, l1d: &mut (impl L1d + ?Sized), now: Cycle) {
        self.complete_with(true, l1d, now);
    }

    /// As [`Lsu::complete`], of a unit that may have [extras](Lsu::has_extras) or not, as the caller knows when it is compiled.
    #[inline(always)]
    pub fn complete_with(&mut self, extras: bool, l1d: &mut (impl L1d + ?Sized), now: Cycle) {
        if self.device.outstanding() != 0 {
            while let Some(completion) = l1d.completed(now) {
                if extras && self.ledger.is_some() {
                    self.charge_completion(completion.token, now);
                }
                self.complete_access(completion, now);
            }
        }
    }

    /// Advances every path by one cycle: collects lines and passes, advances fences, then offers the next accesses.
    /// Inline, because in most cycles it only finds that few of its parts have anything to do.
    #[inline(always)]
    pub fn tick(
        &mut self,
        l1d: &mut (impl L1d + ?Sized),
        constants: &mut impl ReadOnly,
        now: Cycle,
    ) -> Asked {
        self.tick_with(true, l1d, constants, now)
    }

    /// As [`Lsu::tick`], of a unit that may have [extras](Lsu::has_extras) or not, as the caller knows when it is compiled.
    #[inline(always)]
    pub fn tick_with(
        &mut self,
        extras: bool,
        l1d: &mut (impl L1d + ?Sized),
        constants: &mut impl ReadOnly,
        now: Cycle,
    ) -> Asked {
        let mut asked = Asked::default();
        if self.constants.awaits_lines() {
            self.complete_constants(constants, now);
        }
        if self.due <= now {
            self.complete_passes(now);
        }
        if extras && self.lanes.is_some() {
            self.step_lanes(now);
        }
        if self.fences.is_active() {
            self.step_fences(l1d, now);
            asked.l1d = true;
        }
        if self.due <= now {
            asked.constants = self.constants.next_event() <= now;
            self.begin_passes(constants, now);
            asked.wrong = extras && self.behind.as_ref().is_some_and(|behind| behind.found_wrong());
        }
        if !self.bulk.is_idle() {
            self.step_bulk(now);
        }
        let mut left = self.accesses_per_cycle;
        while left > 0 && self.device.has_offer(&self.textures, l1d, now) {
            asked.l1d = true;
            // What comes behind a refused access waits with it.
            left = if self.offer(extras, l1d, now) { left - 1 } else { 0 };
        }
        asked
    }

    #[inline(always)]
    fn complete_access(&mut self, completion: Completion, now: Cycle) {
        self.statistics.completions += 1;
        match self.device.complete(&mut self.table, &mut self.textures, completion) {
            Completed::Of(place) => self.close(place, now),
            Completed::Detached(warp) => self.fences.close(warp),
            Completed::Own(token, tray) if token & BEHIND != 0 => self.performed_behind(token, tray, now),
            Completed::Own(token, tray) => self.return_tray(token, tray, now),
        }
    }

    #[inline(never)]
    fn complete_constants(&mut self, constants: &mut impl ReadOnly, now: Cycle) {
        while let Some(place) = self.constants.complete(&mut self.table, constants, now) {
            self.close(place, now);
        }
    }

    /// Completes what shared memory and the texture unit have done.
    #[inline(never)]
    fn complete_passes(&mut self, now: Cycle) {
        if self.behind.is_some() {
            self.step_behind(now);
        }
        while let Some(place) = self.scratchpad.complete(now) {
            if place == OWN {
                let access = self.scratchpad.complete_own();
                self.return_tray(access.token, access.tray, now);
            } else {
                self.close(place, now);
            }
        }
        while let Some(place) = self.textures.next_result(now) {
            let entry = self.table.get_mut(place);
            self.textures.results(place, entry.lanes, &mut entry.image.words);
            self.end(place, now);
        }
    }

    #[cold]
    fn step_fences(&mut self, l1d: &mut (impl L1d + ?Sized), now: Cycle) {
        for warp in members(self.fences.evicting()) {
            let everything = LaneEvent::Fence { lanes: LaneMask::MAX };
            self.fences.open(warp as u8);
            self.order_for(everything, Waiter::Fence(warp as u8), now);
        }
        let mut done = self.fences.step(l1d, now, &mut self.statistics);
        while done != 0 {
            let warp = done.trailing_zeros() as u8;
            done &= done - 1;
            if let Some(place) = self.fences.finish(warp, now, &mut self.statistics) {
                self.start(place, now);
            }
        }
    }

    /// Begins the next passes of shared memory and requests the next line of constants.
    #[inline(never)]
    fn begin_passes(&mut self, constants: &mut impl ReadOnly, now: Cycle) {
        if self.banks_are_open()
            && let Some(place) = self.scratchpad.begin(now)
        {
            let before = self.before(moved::pass);
            self.begin_pass(place, now);
            self.charge_place(before, Some(place));
        }
        let before = self.before(moved::request);
        let asking = if before.is_some() { self.constants.front(now) } else { None };
        if let Some(place) = self.constants.offer(&mut self.table, constants, now, &mut self.statistics) {
            self.front -= 1;
            self.close(place, now);
        }
        self.charge_place(before, asking);
        let fetched = self.textures.next_event();
        self.due = self.scratchpad.next_event().min(self.constants.next_event()).min(fetched);
        if let Some(behind) = &self.behind {
            if !self.banks_are_open() {
                // The next passes begin when the part has room.
                let completed = self.scratchpad.next_completion();
                self.due = completed.min(self.constants.next_event()).min(fetched);
            }
            self.due = self.due.min(behind.part.next_event(now.next()));
        }
    }

    /// Begins the passes of an instruction, or of an access of the lane path's own.
    #[inline]
    fn begin_pass(&mut self, place: Place, now: Cycle) {
        if place != OWN {
            self.front -= 1;
            if self.behind.is_some() && !self.offer_behind(place, now) {
                return;
            }
            let entry = self.table.get_mut(place);
            self.scratchpad.perform(place, entry, now, &mut self.statistics);
        } else if let Some(write) = self.scratchpad.perform_own(now, &mut self.statistics) {
            self.return_tray(write.token, write.tray, now);
        }
    }

    /// Offers the next access to the L1D. Returns whether it was taken.
    #[inline(always)]
    fn offer(&mut self, extras: bool, l1d: &mut (impl L1d + ?Sized), now: Cycle) -> bool {
        let before = if extras { self.before(moved::offer) } else { None };
        let (watches, statistics) = (before.is_some(), &mut self.statistics);
        let accepted = self.device.offer(watches, &mut self.table, &mut self.textures, l1d, now, statistics);
        if let Some(before) = before {
            self.charge_offer(&before, &accepted, now);
        }
        let Some(Accepted { entry: place, detached, last, .. }) = accepted else { return false };
        if place == OWN {
            return true;
        }
        if detached {
            self.fences.open(self.table.get(place).warp);
            self.close(place, now);
        }
        if last {
            self.front -= 1;
            self.close(place, now);
        }
        true
    }

    /// Earliest cycle from `now` on in which [`Lsu::tick`] changes anything. Completions are excluded: the L1D and
    /// the constant cache announce those themselves.
    #[inline]
    pub fn next_event(&self, l1d: &(impl L1d + ?Sized), now: Cycle) -> Cycle {
        self.next_event_with(true, l1d, now)
    }

    /// As [`Lsu::next_event`], of a unit that may have [extras](Lsu::has_extras) or not, as the caller knows when it is compiled.
    #[inline(always)]
    pub fn next_event_with(&self, extras: bool, l1d: &(impl L1d + ?Sized), now: Cycle) -> Cycle {
        let access = self.device.next_event(l1d, &self.textures, now);
        if access <= now || !self.bulk.is_idle() && self.bulk.has_left() && self.can_accept() {
            return now;
        }
        let next = access.min(self.due).min(self.fences.next_event(l1d, now)).min(self.done.next_ready());
        match &self.lanes {
            Some(lanes) if extras => next.min(lanes.next_event(now)),
            _ => next,
        }
    }
}
