//! How a thread shares the islands of a window out with others.

use super::front::Open;
use super::worker::Worker;
use crate::island::Island;
use crate::link::Window;

/// Islands that a thread simulates before it looks again whether those put off can be.
const LOOKS_AGAIN: u32 = 4;

impl<I: Island> Worker<'_, '_, I> {
    /// Simulates the islands of a window that no other thread has taken.
    pub(super) fn simulate_with_others(&mut self, window: Open) {
        let shared = self.shared;
        self.known.fill(0);
        loop {
            let mut waits = false;
            for group in shared.groups.turns(self.thread) {
                waits |= self.simulate_group(group, window);
            }
            if !waits || shared.front.is_over() {
                return;
            }
            // What this thread knows may be what the others wait for.
            shared.front.tell(window.number, &mut self.tally);
            self.patience.wait();
        }
    }

    /// Simulates those islands of a group that no other thread has taken. Returns whether any is left, since it waits for
    /// others.
    fn simulate_group(&mut self, group: usize, window: Open) -> bool {
        let groups = &self.shared.groups;
        let (mut put_off, mut visited) = (0, 0);
        loop {
            let untaken = groups.untaken(group, window.number);
            if untaken == 0 {
                return false;
            }
            // The next that has work, and those before it that have none.
            let (mut mine, mut next) = (0, None);
            let mut left = untaken & !put_off;
            while left != 0 && next.is_none() {
                let bit = left & left.wrapping_neg();
                left &= !bit;
                let island = groups.islands(group)[bit.trailing_zeros() as usize];
                if !self.is_ready(island, window) {
                    put_off |= bit;
                    continue;
                }
                mine |= bit;
                next = self.has_work(island, window).then_some(island);
            }
            if mine == 0 {
                return true;
            }
            if !groups.take(group, window.number, mine) {
                continue;
            }
            self.patience.renew();
            self.finish_idle(group, mine, next);
            if let Some(island) = next {
                self.visit(island, window);
                visited += 1;
            }
            groups.finish(group, window.number, mine);
            // Others may wait for what was put off.
            if visited % LOOKS_AGAIN == 0 {
                put_off = 0;
            }
        }
    }

    /// Whether all that an island waits for have simulated the window before.
    fn is_ready(&mut self, island: usize, window: Open) -> bool {
        let groups = &self.shared.groups;
        groups.awaited(island).iter().all(|(group, awaited)| {
            let known = &mut self.known[*group];
            if *known & awaited != *awaited {
                *known = groups.finished(*group, window.number.wrapping_sub(1));
            }
            *known & awaited == *awaited
        })
    }

    fn has_work(&self, island: usize, window: Open) -> bool {
        let (shared, number) = (self.shared, Window(window.number));
        shared.states[island].wake() < window.until
            || !shared.bells[island].is_silent(number)
            || shared.every_cycle
    }

    /// Takes note of the islands taken that have nothing to do: all but `busy`.
    fn finish_idle(&mut self, group: usize, mut taken: u32, busy: Option<usize>) {
        while taken != 0 {
            let island = self.shared.groups.islands(group)[taken.trailing_zeros() as usize];
            taken &= taken - 1;
            if busy != Some(island) {
                self.tally.finished += 1;
                self.tally.earliest = self.tally.earliest.min(self.shared.states[island].wake());
            }
        }
    }
}
