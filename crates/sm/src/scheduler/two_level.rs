//! Two-level scheduling (Gebhart et al., ISCA 2011, section 4; Narasiman et al., MICRO 2011, section 4): round robin
//! over a small active set. A warp in a long wait leaves the set, and the runnable warp that has been outside longest
//! takes its place.
//!
//! Narasiman et al. divide the warps into fixed groups and change groups when all warps of one wait; here, as with
//! Gebhart et al. and in Accel-Sim's `two_level_active`, each warp leaves and enters by itself.

use super::View;
use super::loose_round_robin::LooseRoundRobin;

/// An active set of warps and a queue of pending ones.
#[derive(Clone, Debug)]
pub struct TwoLevel {
    capacity: usize,
    active: u64,
    /// Warps outside the active set, in the order in which they left it.
    pending: Vec<u8>,
    inner: LooseRoundRobin,
}

impl TwoLevel {
    /// A scheduler whose active set holds up to `capacity` warps.
    pub fn new(capacity: usize) -> Self {
        TwoLevel { capacity, active: 0, pending: Vec::with_capacity(64), inner: LooseRoundRobin::default() }
    }

    /// Updates the active set, then picks from it.
    #[inline]
    pub fn pick(&mut self, view: View) -> Option<usize> {
        if !self.is_settled(view) {
            self.settle(view);
        }
        self.inner.pick(view.ready & self.active)
    }

    /// Whether the active set would stay unchanged.
    #[inline]
    pub fn is_settled(&self, view: View) -> bool {
        let full = self.active.count_ones() as usize >= self.capacity;
        self.active & view.waiting == 0
            && (full || self.pending.iter().all(|warp| view.waiting >> warp & 1 == 1))
    }

    fn settle(&mut self, view: View) {
        let mut leaving = self.active & view.waiting;
        self.active &= !view.waiting;
        while leaving != 0 {
            self.pending.push(leaving.trailing_zeros() as u8);
            leaving &= leaving - 1;
        }
        let mut room = self.capacity.saturating_sub(self.active.count_ones() as usize);
        let active = &mut self.active;
        self.pending.retain(|warp| {
            let enters = room > 0 && view.waiting >> warp & 1 == 0;
            if enters {
                *active |= 1 << warp;
                room -= 1;
            }
            !enters
        });
    }

    /// Adds a starting warp, outside the active set.
    pub fn add(&mut self, warp: usize) {
        self.pending.push(warp as u8);
    }

    /// Removes a warp that has exited.
    pub fn remove(&mut self, warp: usize) {
        self.pending.retain(|other| *other as usize != warp);
        self.active &= !(1 << warp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warps_come_back_in_the_order_in_which_they_left() {
        let mut scheduler = TwoLevel::new(2);
        [5, 6, 7, 8].into_iter().for_each(|warp| scheduler.add(warp));
        let view = |ready: &[u32], waiting: &[u32]| {
            let mask = |warps: &[u32]| warps.iter().fold(0, |mask, warp| mask | 1_u64 << warp);
            View { ready: mask(ready), waiting: mask(waiting) }
        };
        // In: 5 and 6; out: 7, 8. Then 5 and 6 leave, and 7 and 8 enter.
        assert_eq!(scheduler.pick(view(&[5, 6, 7, 8], &[])), Some(5));
        assert_eq!(scheduler.pick(view(&[7, 8], &[5, 6])), Some(7));
        // 6 is ready first, but a place is free only when a warp leaves; then 5 is still waiting, and 6 enters.
        assert_eq!(scheduler.pick(view(&[6, 8], &[5])), Some(8));
        assert_eq!(scheduler.pick(view(&[6], &[5, 7])), Some(6));
        // In: 6 and 8; out: 5 and 7. Both can run when 8 leaves: 5 left first.
        assert_eq!(scheduler.pick(view(&[5, 7], &[8])), Some(5));
        // An exit frees a place, too; a set that nobody can enter stays short.
        scheduler.remove(6);
        assert_eq!(scheduler.pick(view(&[7], &[5])), Some(7));
        let waits = view(&[], &[5, 7, 8]);
        assert_eq!((scheduler.pick(waits), scheduler.is_settled(waits)), (None, true));
        assert!(!scheduler.is_settled(view(&[8], &[5, 7])), "8 could enter");
        assert_eq!(scheduler.pick(view(&[8], &[5, 7])), Some(8));
    }

    #[test]
    fn a_waiting_warp_gives_its_place_to_the_first_that_can_run() {
        let mut scheduler = TwoLevel::new(2);
        [0, 1, 2, 3].into_iter().for_each(|warp| scheduler.add(warp));
        let all = View { ready: 0b1111, waiting: 0 };
        let turns: Vec<_> = (0..4).map(|_| scheduler.pick(all).unwrap()).collect();
        assert_eq!(turns, [1, 0, 1, 0], "warps 2 and 3 are outside");
        let view = View { ready: 0b1000, waiting: 0b0101 };
        assert!(!scheduler.is_settled(view));
        assert_eq!(scheduler.pick(view), Some(3), "0 left; 2 cannot run, so 3 entered");
        assert!(scheduler.is_settled(view));
        assert_eq!(scheduler.pick(all), Some(1), "1 and 3 are in, 2 and 0 wait outside");
    }
}
