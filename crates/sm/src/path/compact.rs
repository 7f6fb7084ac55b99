//! Forgetting steps that no chain can reach any more.

use super::PathRecorder;
use super::step::{NONE, PathAccess, PathPacket, Step, Wait};
use crate::unanswered::Unanswered;

/// Steps before it is tried for the first time.
pub(super) const FIRST: usize = 1 << 16;

/// What is kept, by its number so far: its number from then on.
struct Kept {
    steps: Vec<u32>,
    accesses: Vec<u32>,
    packets: Vec<u32>,
}

impl Kept {
    fn renumber(numbers: &mut [u32]) {
        let mut next = 0;
        for number in numbers.iter_mut().filter(|number| **number != NONE) {
            *number = next;
            next += 1;
        }
    }

    fn step(&self, step: u32) -> u32 {
        self.steps.get(step as usize).copied().unwrap_or(NONE)
    }

    fn packet(&self, packet: u32) -> u32 {
        self.packets.get(packet as usize).copied().unwrap_or(NONE)
    }
}

impl PathRecorder {
    /// Whether steps are recorded and one more has room.
    pub(super) fn has_room(&mut self) -> bool {
        if self.records() && self.of.steps.len() >= self.room {
            self.compact();
        }
        self.records()
    }

    fn compact(&mut self) {
        let kept = self.reachable();
        self.forget(&kept);
        let left = self.of.steps.len();
        // Twice what is left, so that the work is of the order of the steps.
        self.room = (2 * left).max(FIRST).min(self.most);
        if left > self.room / 4 * 3 {
            self.give_up();
        }
    }

    /// What a chain may reach from any step that may lead to another one.
    fn reachable(&mut self) -> Kept {
        let SmEnds { mut steps, mut packets } = self.ends_of_chains();
        let mut kept = Kept {
            steps: vec![NONE; self.of.steps.len()],
            accesses: vec![NONE; self.of.accesses.len()],
            packets: vec![NONE; self.of.packets.len()],
        };
        loop {
            while let Some(number) = packets.pop() {
                if let Some(seen) = kept.packets.get_mut(number as usize).filter(|seen| **seen == NONE) {
                    *seen = 0;
                    steps.push(self.of.packets[number as usize].step);
                }
            }
            let Some(number) = steps.pop() else { break };
            let Some(seen) = kept.steps.get_mut(number as usize).filter(|seen| **seen == NONE) else {
                continue;
            };
            *seen = 0;
            let step = &self.of.steps[number as usize];
            steps.push(step.parent);
            if let Some(access) = self.of.accesses.get(step.access as usize) {
                kept.accesses[step.access as usize] = 0;
                packets.push(access.packet);
            }
        }
        Kept::renumber(&mut kept.steps);
        Kept::renumber(&mut kept.accesses);
        Kept::renumber(&mut kept.packets);
        kept
    }

    fn ends_of_chains(&mut self) -> SmEnds {
        let mut steps = vec![self.current, self.of.last_end];
        let mut packets: Vec<u32> = Vec::new();
        steps.extend(&self.ends);
        for warp in (0..crate::slots::MOST_SLOTS).map(|warp| &self.warps[warp]) {
            steps.extend([warp.last, warp.result.0, warp.performed.0, warp.arrival, warp.retired.0]);
            steps.extend(warp.jump.map(|(step, _, _)| step));
            steps.extend(warp.running.iter().map(|(_, step)| step));
            packets.extend(warp.done.map(|done| done.access.packet));
        }
        steps.extend(self.open.values().map(|open| open.step));
        packets.extend(self.open.values().map(|open| open.packet));
        packets.extend(self.under_way.values().flat_map(Unanswered::iter));
        // An answer matters while an access may find its line by it.
        let open: std::collections::HashSet<_> = self.open.values().map(|open| open.line()).collect();
        self.answers.retain(|line, _| open.contains(line));
        self.under_way.retain(|_, packets| !packets.is_empty());
        packets.extend(self.answers.values());
        SmEnds { steps, packets }
    }

    fn forget(&mut self, kept: &Kept) {
        let of = &mut self.of;
        let mut waits: Vec<(Wait, u32)> = Vec::new();
        let keep = |(step, number): (&Step, &u32)| (*number != NONE).then_some(*step);
        let mut steps: Vec<Step> = of.steps.iter().zip(&kept.steps).filter_map(keep).collect();
        for step in &mut steps {
            let first = step.first_wait as usize;
            step.first_wait = waits.len() as u32;
            waits.extend(&of.waits[first..first + usize::from(step.waits)]);
            step.parent = kept.step(step.parent);
            step.access = kept.accesses.get(step.access as usize).copied().unwrap_or(NONE);
        }
        let keep = |(access, number): (&PathAccess, &u32)| (*number != NONE).then_some(*access);
        let mut accesses: Vec<PathAccess> = of.accesses.iter().zip(&kept.accesses).filter_map(keep).collect();
        accesses.iter_mut().for_each(|access| access.packet = kept.packet(access.packet));
        let keep = |(packet, number): (&PathPacket, &u32)| (*number != NONE).then_some(*packet);
        let mut packets: Vec<PathPacket> = of.packets.iter().zip(&kept.packets).filter_map(keep).collect();
        packets.iter_mut().for_each(|packet| packet.step = kept.step(packet.step));
        (of.steps, of.waits, of.accesses, of.packets) = (steps, waits, accesses, packets);
        of.last_end = kept.step(of.last_end);
        self.current = kept.step(self.current);
        self.ends.iter_mut().for_each(|end| *end = kept.step(*end));
        for number in 0..crate::slots::MOST_SLOTS {
            let warp = &mut self.warps[number];
            for step in [
                &mut warp.last,
                &mut warp.result.0,
                &mut warp.performed.0,
                &mut warp.arrival,
                &mut warp.retired.0,
            ] {
                *step = kept.step(*step);
            }
            warp.jump.iter_mut().for_each(|(step, _, _)| *step = kept.step(*step));
            warp.running.iter_mut().for_each(|(_, step)| *step = kept.step(*step));
            warp.done.iter_mut().for_each(|done| done.access.packet = kept.packet(done.access.packet));
        }
        for open in self.open.values_mut() {
            (open.step, open.packet) = (kept.step(open.step), kept.packet(open.packet));
        }
        self.under_way
            .values_mut()
            .flat_map(Unanswered::iter_mut)
            .for_each(|packet| *packet = kept.packet(*packet));
        self.answers.values_mut().for_each(|packet| *packet = kept.packet(*packet));
    }
}

/// Where chains begin.
struct SmEnds {
    steps: Vec<u32>,
    packets: Vec<u32>,
}
