//! Steps of warps: what each waited for, and which step came last.

use std::ops::Range;

use strata_engine::Cycle;
use strata_memory::bits::members;
use strata_ptx::isa::Pc;

use super::memory::Done;
use super::step::{How, NONE, Step, Wait, What};
use super::{PathRecorder, SmPath};
use crate::statistics::Stall;

/// What warps of a scheduler wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FollowedWaits {
    /// Its warps.
    pub share: u64,
    /// All warps of the SM, by what they wait for; `None`: a result.
    pub of: [(u64, Option<Wait>); Stall::COUNT + 1],
}

/// The place of warps that wait for a result among those that are known to wait.
const RESULT: usize = Wait::COUNT;

/// A warp on its way to its next step.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    /// Its last step,
    pub last: u32,
    /// what it waits for now, `None`: a result,
    wait: Option<Wait>,
    /// and since when.
    since: u32,
    /// The step that led to the next one, how, and when: from then on,
    pub jump: Option<(u32, How, u32)>,
    /// how long it waited for what.
    waited: [u32; Wait::COUNT],
    /// The step whose result came last, and when.
    pub result: (u32, How, u32),
    /// The step whose access was performed last, and when.
    pub performed: (u32, u32),
    /// The step that ended its barrier.
    pub arrival: u32,
    /// The step that ended it, and when.
    pub retired: (u32, u32),
    /// Its instructions that are not complete.
    pub running: Vec<(Pc, u32)>,
    /// Its access that was complete last.
    pub done: Option<Done>,
}

impl Warp {
    pub fn new() -> Warp {
        Warp {
            last: NONE,
            wait: Some(Wait::Unknown),
            since: 0,
            jump: None,
            waited: [0; Wait::COUNT],
            result: (NONE, How::Result, 0),
            performed: (NONE, 0),
            arrival: NONE,
            retired: (NONE, 0),
            running: Vec::new(),
            done: None,
        }
    }

    fn jump(&mut self, step: u32, how: How, at: u32) {
        self.jump = Some((step, how, at));
        self.waited = [0; Wait::COUNT];
    }

    /// What it waited for until now has come, or it waits for something else.
    fn turn(&mut self, path: &SmPath, wait: Option<Wait>, now: u32) {
        let spent = now - self.since;
        match self.wait {
            None => match self.result {
                (step, how, at) if step != NONE && at == now => self.jump(step, how, now),
                _ => self.waited[Wait::Unknown as usize] += spent,
            },
            Some(Wait::Barrier) if self.arrival != NONE => self.jump(self.arrival, How::Arrival, now),
            Some(wait @ (Wait::Copies | Wait::Fence)) => {
                let (step, at) = self.performed;
                // What was performed while the warp waited, of an instruction from before.
                if step != NONE && at > path.steps[self.last as usize].at && at <= now {
                    self.jump(step, How::Result, at);
                    self.waited[wait as usize] = now - at;
                } else {
                    self.waited[wait as usize] += spent;
                }
            }
            Some(wait) => self.waited[wait as usize] += spent,
        }
        (self.wait, self.since) = (wait, now);
    }

    /// The step of one of its instructions that is not complete.
    pub fn running(&self, is_it: impl Fn(Pc, u32) -> bool) -> Option<u32> {
        self.running.iter().find(|(pc, step)| is_it(*pc, *step)).map(|(_, step)| *step)
    }
}

impl PathRecorder {
    /// What warps of a scheduler wait for from a cycle on. `missed` have waited for the instruction cache to fetch.
    pub fn waits(&mut self, FollowedWaits { share, of }: &FollowedWaits, missed: u64, now: Cycle) {
        if !self.records() {
            return;
        }
        self.missed |= missed;
        let now = self.at(now);
        for (warps, wait) in of {
            let place = wait.map_or(RESULT, |wait| wait as usize);
            let fresh = warps & share & !self.known[place];
            for warp in members(fresh) {
                self.known.iter_mut().for_each(|known| *known &= !(1 << warp));
                self.turn(warp, *wait, now);
            }
            self.known[place] |= fresh;
        }
    }

    fn turn(&mut self, warp: usize, wait: Option<Wait>, now: u32) {
        let of = &mut self.warps[warp];
        if of.last == NONE {
            return;
        }
        if of.wait == Some(Wait::Fetch) && self.missed >> warp & 1 != 0 {
            of.wait = Some(Wait::FetchMiss);
            self.missed &= !(1 << warp);
        }
        of.turn(&self.of, wait, now);
    }

    /// A warp issues an instruction. So far, it and others of its scheduler have waited.
    pub fn issued(&mut self, waits: &FollowedWaits, (warp, pc): (usize, Pc), missed: u64, now: Cycle) {
        if !self.has_room() {
            return;
        }
        self.waits(waits, missed, now);
        let now = self.at(now);
        self.known.iter_mut().for_each(|known| *known &= !(1 << warp));
        self.turn(warp, Some(Wait::Issue), now);
        self.missed &= !(1 << warp);
        let of = &mut self.warps[warp];
        if of.last == NONE {
            return;
        }
        let before = (of.last, How::Before, self.of.steps[of.last as usize].at);
        let (parent, how, from) = of.jump.take().unwrap_or(before);
        let waited = std::mem::replace(&mut of.waited, [0; Wait::COUNT]);
        let step = self.add(What::Instruction(pc), now, (parent, how, from), &waited);
        self.warps[warp].last = step;
        self.current = step;
    }

    /// The instruction that a warp issued last is on its way.
    pub fn flies(&mut self, warp: usize, pc: Pc) {
        let of = &mut self.warps[warp];
        if of.last != NONE {
            of.running.push((pc, of.last));
        }
    }

    /// The operands of an instruction are there.
    pub fn operands(&mut self, warp: usize, pc: Pc, now: Cycle) {
        let now = self.at(now);
        let of = &self.warps[warp];
        let is_it = |other, step: u32| other == pc && self.of.steps[step as usize].arrived == 0;
        if let Some(step) = of.running(is_it) {
            self.of.steps[step as usize].arrived = now;
        }
    }

    /// An instruction comes to its unit, which has its result in cycle `finished`, if it knows.
    pub fn dispatched(&mut self, warp: usize, pc: Pc, now: Cycle, finished: Option<Cycle>) {
        let now = self.at(now);
        let finished = finished.map_or(0, |finished| self.at(finished));
        let of = &self.warps[warp];
        let is_it = |other, step: u32| other == pc && self.of.steps[step as usize].dispatched == 0;
        if let Some(step) = of.running(is_it) {
            let step = &mut self.of.steps[step as usize];
            (step.dispatched, step.finished) = (now, finished);
        }
    }

    /// An instruction is complete. `is_awaited`: the warp may wait for it.
    pub fn ended(&mut self, warp: usize, pc: Pc, is_awaited: bool, now: Cycle) {
        let now = self.at(now);
        let of = &mut self.warps[warp];
        let is_it = |(other, step): &(Pc, u32)| *other == pc && self.of.steps[*step as usize].finished != 0;
        let place = of.running.iter().position(is_it);
        let place = place.or_else(|| of.running.iter().position(|(other, _)| *other == pc));
        let Some(place) = place else { return };
        let (_, step) = of.running.remove(place);
        if is_awaited {
            of.result = (step, How::Result, now);
        }
        self.current = step;
    }

    /// The result of a barrier is written, which a warp may wait for.
    pub fn barrier_result(&mut self, warp: usize, now: Cycle) {
        let now = self.at(now);
        let of = &mut self.warps[warp];
        of.result = (of.arrival, How::Arrival, now);
        self.current = of.arrival;
    }

    /// What acts now ends the wait of these warps at a barrier.
    pub fn releases(&mut self, warps: u64) {
        members(warps).for_each(|warp| self.warps[warp].arrival = self.current);
    }

    /// A CTA begins in these warp slots.
    pub fn begin_cta(&mut self, warps: Range<usize>, now: Cycle) {
        if !self.has_room() {
            return;
        }
        let now = self.at(now);
        let (places, cluster) = self.places;
        // All CTAs of a cluster begin when there is room for the last of them.
        let behind = self.begun / cluster * cluster + cluster - 1;
        self.begun += 1;
        let whole = places / cluster * cluster;
        let mut led = (NONE, How::Place, 0);
        if let Some(end) = behind.checked_sub(whole) {
            while self.ended < end && self.ends.len() > 1 {
                self.ends.pop_front();
                self.ended += 1;
            }
            if let Some(end) = self.ends.front() {
                led = (*end, How::Place, self.of.steps[*end as usize].at);
            }
        }
        let step = self.add(What::Begin, now, led, &[0; Wait::COUNT]);
        for warp in warps {
            self.known.iter_mut().for_each(|known| *known &= !(1 << warp));
            self.warps[warp] = Warp { last: step, wait: Some(Wait::Fetch), since: now, ..Warp::new() };
        }
    }

    /// A warp has ended, of a CTA whose first warp slot is `first`.
    pub fn retired(&mut self, first: usize, now: Cycle) {
        let now = self.at(now);
        self.warps[first].retired = (self.current, now);
    }

    /// The CTA in these warp slots has ended.
    pub fn end_cta(&mut self, warps: Range<usize>, now: Cycle) {
        if !self.has_room() {
            return;
        }
        let now = self.at(now);
        let (parent, from) = self.warps[warps.start].retired;
        if parent != NONE {
            let mut waited = [0; Wait::COUNT];
            waited[Wait::LanePath as usize] = now - from;
            let end = self.add(What::End, now, (parent, How::Result, from), &waited);
            self.ends.push_back(end);
            self.of.last_end = end;
        }
        warps.for_each(|warp| self.warps[warp] = Warp::new());
    }

    fn add(&mut self, what: What, at: u32, led: (u32, How, u32), waited: &[u32; Wait::COUNT]) -> u32 {
        let (parent, how, from) = led;
        let first_wait = self.of.waits.len() as u32;
        let waits = Wait::ALL.into_iter().zip(waited).filter(|(_, cycles)| **cycles > 0);
        self.of.waits.extend(waits.map(|(wait, cycles)| (wait, *cycles)));
        let waits = (self.of.waits.len() - first_wait as usize) as u8;
        self.of.steps.push(Step {
            what,
            at,
            parent,
            how,
            from,
            first_wait,
            waits,
            arrived: 0,
            dispatched: 0,
            finished: 0,
            access: NONE,
        });
        self.of.steps.len() as u32 - 1
    }
}
