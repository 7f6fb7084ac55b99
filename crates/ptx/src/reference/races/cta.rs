//! A CTA that runs: its time, what its warps know, and who waits at its barriers.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::barrier::BARRIERS;
use super::super::observer::BarrierArrival;
use super::clock::{Clock, Group, Time, join};
use super::knowledge::Knowledge;
use super::shadow::Shadow;
use crate::lanes::{ALL_LANES, LaneMask, Row, WARP_LANES, lanes_of};

/// Who arrived at a barrier, and what they knew.
#[derive(Clone, Debug, Default)]
struct Meeting {
    /// Warps and when they arrived.
    arrived: Vec<(u32, Time)>,
    clock: Option<Arc<Clock>>,
    /// Whether all threads of the CTA are to come.
    whole: bool,
    /// Whether some do not wait.
    some_go_on: bool,
}

/// The asynchronous copies of a thread.
#[derive(Clone, Debug, Default)]
struct Copies {
    /// When each group ended.
    groups: Vec<Time>,
    /// Copies up to a time are made at another; both ascend.
    made: Vec<(Time, Time)>,
}

/// A CTA that runs.
#[derive(Debug)]
pub(super) struct Cta {
    pub number: u32,
    /// Goes on when a thread hands knowledge on, so that what it does next is later.
    pub time: Time,
    pub warps: Vec<Knowledge>,
    pub shared: Shadow,
    barriers: [Meeting; BARRIERS],
    /// By warp and lane.
    copies: HashMap<(u32, u32), Copies>,
}

impl Cta {
    /// One that begins at a time, with the shadow of its shared memory.
    pub fn new(number: u32, threads: u32, shared: Shadow) -> Self {
        let nothing = Arc::new(Clock::default());
        let warp = |warp: u32| {
            let left = threads - warp * WARP_LANES as u32;
            let exist = if left >= WARP_LANES as u32 { ALL_LANES } else { (1 << left) - 1 };
            Knowledge::new(exist, nothing.clone())
        };
        Cta {
            number,
            time: shared.since,
            warps: (0..threads.div_ceil(WARP_LANES as u32)).map(warp).collect(),
            shared,
            barriers: Default::default(),
            copies: HashMap::new(),
        }
    }

    /// A warp arrives at a barrier.
    pub fn arrive(&mut self, warp: u32, arrival: &BarrierArrival) {
        let meeting = &mut self.barriers[arrival.barrier as usize];
        let knowledge = &self.warps[warp as usize];
        let clock = knowledge.joined(knowledge.exist);
        meeting.clock = Some(meeting.clock.as_ref().map_or_else(|| clock.clone(), |met| join(met, &clock)));
        meeting.arrived.push((warp, self.time));
        meeting.whole |= arrival.threads == 0;
        if !arrival.waits {
            meeting.some_go_on = true;
            self.time += 1;
        }
    }

    /// A barrier is complete.
    pub fn open(&mut self, barrier: u32, warps: u64) {
        let meeting = std::mem::take(&mut self.barriers[barrier as usize]);
        let Some(clock) = meeting.clock else { return };
        let all = meeting.whole || meeting.arrived.len() >= self.warps.len();
        let mut clock = Clock::clone(&clock);
        if all && !meeting.some_go_on {
            clock.learn(self.number, [(Group::All, self.time)]);
        } else {
            // Threads that have ended count as arrived.
            let came = |warp: &u32| meeting.arrived.iter().any(|(arrived, _)| arrived == warp);
            let ended = (0..self.warps.len() as u32).filter(|warp| all && !came(warp));
            let ended: Vec<(u32, Time)> = ended.map(|warp| (warp, self.time)).collect();
            let known = meeting.arrived.iter().chain(&ended);
            clock.learn(self.number, known.map(|(warp, time)| (Group::Warp(*warp), *time)));
        }
        let (all, clock) = (clock.of_all(self.number), Arc::new(clock));
        for (_, knowledge) in (0..).zip(&mut self.warps).filter(|(warp, _)| warps >> warp & 1 == 1) {
            knowledge.set(knowledge.exist, clock.clone());
            knowledge.all = all;
        }
        self.time += 1;
    }

    /// Lanes of a warp execute `bar.warp.sync`: those that name the same lanes and come together meet.
    pub fn warp_sync(&mut self, warp: u32, lanes: LaneMask, members: &Row) {
        let mut left = lanes;
        while left != 0 {
            let named = members.0[left.trailing_zeros() as usize];
            let alike = lanes_of(left).filter(|lane| members.0[*lane] == named);
            let group = alike.fold(0, |mask, lane| mask | 1 << lane);
            left &= !group;
            if group.count_ones() > 1 {
                self.warps[warp as usize].meet(group, self.number, warp, self.time);
            }
        }
        self.time += 1;
    }

    /// Threads end a group of copies.
    pub fn commit(&mut self, warp: u32, lanes: LaneMask) {
        for lane in lanes_of(lanes) {
            self.copies.entry((warp, lane as u32)).or_default().groups.push(self.time);
        }
        self.time += 1;
    }

    /// Threads have waited for their copies but for the last groups; without a number, for all.
    pub fn wait(&mut self, warp: u32, lanes: LaneMask, pending: Option<u32>) {
        let now = self.time;
        for lane in lanes_of(lanes) {
            let copies = self.copies.entry((warp, lane as u32)).or_default();
            let done = match pending {
                None => Some(now),
                Some(pending) => {
                    let groups = copies.groups.len().checked_sub(1 + pending as usize);
                    groups.map(|last| copies.groups[last])
                }
            };
            if let Some(done) = done.filter(|done| copies.made.last().is_none_or(|(made, _)| made < done)) {
                copies.made.push((done, now));
            }
        }
        self.time += 1;
    }

    /// When a copy is made that a thread began at a time; none before it is waited for.
    pub fn made(&self, warp: u32, lane: u32, begun: Time) -> Option<Time> {
        let made = &self.copies.get(&(warp, lane))?.made;
        made.get(made.partition_point(|(until, _)| *until < begun)).map(|(_, at)| *at)
    }
}
