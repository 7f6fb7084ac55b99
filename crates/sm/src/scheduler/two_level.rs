//! Two-level scheduling: round robin over a small active set. A warp in a long wait leaves the set, and the runnable warp
//! that has been outside longest takes its place.
//!
//! Narasiman et al. divide the warps into fixed groups and change groups when all warps of one wait; here, as with
//! Gebhart et al. and in Accel-Sim's `two_level_active`, each warp leaves and enters by itself.

use schemars::JsonSchema;
use serde::Deserialize;

use super::loose_round_robin::LooseRoundRobin;
use super::policy::{SchedulerSite, View, WarpScheduler};

/// Two-level: round robin over an active set; warps leave the set while they wait for memory (Gebhart et al., ISCA 2011, section
/// 4; Narasiman et al., MICRO 2011, section 4).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoLevel {
    /// Size of one scheduler's active set in warps, 1 to 64.
    #[schemars(range(min = 1, max = 64), extend("unit" = "warps"))]
    pub active: u32,
    /// The active set.
    #[serde(skip)]
    inside: u64,
    /// Warps outside the active set, in the order in which they left it.
    #[serde(skip)]
    pending: Vec<u8>,
    #[serde(skip)]
    inner: LooseRoundRobin,
}

impl TwoLevel {
    /// A scheduler whose active set holds up to `active` warps.
    pub fn of(active: u32) -> Self {
        TwoLevel { active, inside: 0, pending: Vec::new(), inner: LooseRoundRobin::default() }
    }

    fn settle(&mut self, view: View) {
        let mut leaving = self.inside & view.waiting;
        self.inside &= !view.waiting;
        while leaving != 0 {
            self.pending.push(leaving.trailing_zeros() as u8);
            leaving &= leaving - 1;
        }
        let mut room = self.active.saturating_sub(self.inside.count_ones());
        let inside = &mut self.inside;
        self.pending.retain(|warp| {
            let enters = room > 0 && view.waiting >> warp & 1 == 0;
            if enters {
                *inside |= 1 << warp;
                room -= 1;
            }
            !enters
        });
    }
}

impl WarpScheduler for TwoLevel {
    const LOOKS_AT_WAITING: bool = true;

    fn check(&self) -> Result<(), String> {
        match self.active {
            1..=64 => Ok(()),
            found => Err(format!("found active = {found}, expected 1 to 64")),
        }
    }

    fn start(&mut self, _: &SchedulerSite) {
        self.pending.reserve(64);
    }

    /// Updates the active set, then picks from it.
    #[inline]
    fn pick(&mut self, view: View) -> Option<usize> {
        if !self.is_settled(view) {
            self.settle(view);
        }
        self.inner.next(view.ready & self.inside)
    }

    /// Whether the active set would stay unchanged.
    #[inline]
    fn is_settled(&self, view: View) -> bool {
        let full = self.inside.count_ones() >= self.active;
        self.inside & view.waiting == 0
            && (full || self.pending.iter().all(|warp| view.waiting >> warp & 1 == 1))
    }

    /// Adds a starting warp, outside the active set.
    fn add(&mut self, warp: usize) {
        self.pending.push(warp as u8);
    }

    fn remove(&mut self, warp: usize) {
        self.pending.retain(|other| *other as usize != warp);
        self.inside &= !(1 << warp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warps_come_back_in_the_order_in_which_they_left() {
        let mut scheduler = TwoLevel::of(2);
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
        let mut scheduler = TwoLevel::of(2);
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
