//! The warp that lost issue slots are charged to.

use super::event::At;
use crate::statistics::Stall;

/// A warp that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// The instruction at which it waits.
    pub at: At,
    /// The instruction whose result it waits for, if it waits for one.
    pub producer: Option<At>,
}

/// Slots that were lost in the same way and are charged together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Loss {
    pub cause: Stall,
    /// Where a warp waited; `None` without a warp.
    pub waiting: Option<Waiting>,
    pub slots: u64,
}

/// What a scheduler loses its slots for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lost {
    /// The warps that wait,
    warps: u64,
    /// and the one of them that is charged,
    warp: usize,
    /// as long as the scheduler issues nothing.
    is_chosen: bool,
    /// What is not charged yet: the slots that were last lost in the same way.
    open: Loss,
}

impl Lost {
    /// The warp to charge from a cycle on, of these that wait for a cause: the same as before while they are the same, or else one by the
    /// number of the cycle. So the choice does not depend on how cycles are put together.
    #[inline]
    pub fn choose(&mut self, (cause, warps): (Stall, u64), from: u64) -> Option<usize> {
        if warps == 0 {
            self.is_chosen = false;
            return None;
        }
        if (self.open.cause, self.warps, self.is_chosen) != (cause, warps, true) {
            (self.warps, self.is_chosen) = (warps, true);
            self.warp = nth(warps, from);
        }
        Some(self.warp)
    }

    /// Loses slots for a cause, for which the chosen warp waits. Returns what was lost in another way before, to be charged.
    #[inline]
    pub fn lose(&mut self, cause: Stall, waiting: Option<Waiting>, slots: u64) -> Option<Loss> {
        if (self.open.cause, self.open.waiting) == (cause, waiting) {
            self.open.slots += slots;
            return None;
        }
        let before = std::mem::replace(&mut self.open, Loss { cause, waiting, slots });
        (before.slots > 0).then_some(before)
    }

    /// Loses slots in the same way as before.
    #[inline]
    pub fn lose_more(&mut self, slots: u64) {
        self.open.slots += slots;
    }

    /// Takes what is not charged yet, if anything.
    pub fn take(&mut self) -> Option<Loss> {
        let loss = Loss { slots: std::mem::take(&mut self.open.slots), ..self.open };
        (loss.slots > 0).then_some(loss)
    }

    /// The scheduler has issued: next time, another warp may be charged.
    pub fn end(&mut self) {
        self.is_chosen = false;
    }
}

/// The member of a set that a number falls to.
fn nth(warps: u64, number: u64) -> usize {
    let members = u64::from(warps.count_ones());
    let mut left = warps;
    for _ in 0..number.checked_rem(members).unwrap_or(0) {
        left &= left - 1;
    }
    left.trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAITING: Option<Waiting> = Some(Waiting { at: At { pc: 0, cta: 0 }, producer: None });

    #[test]
    fn warps_take_turns_and_one_is_charged_as_long_as_the_same_wait() {
        let mut lost = Lost::default();
        let three = (Stall::Memory, 0b1_0010_0100);
        let mut choose = |of: (Stall, u64), from| {
            let warp = lost.choose(of, from);
            lost.lose(of.0, WAITING, 1);
            warp
        };
        assert_eq!(choose(three, 7), Some(5));
        assert_eq!(choose(three, 6), Some(5), "the same warps wait for the same");
        assert_eq!(choose((Stall::Barrier, three.1), 6), Some(2), "for something else");
        assert_eq!(choose((Stall::Barrier, 0b10_0000), 6), Some(5), "others do");
        let after_issue = |from| {
            lost.end();
            lost.choose(three, from)
        };
        assert_eq!((6..12).map(after_issue).collect::<Vec<_>>(), [2, 5, 8, 2, 5, 8].map(Some));
    }

    #[test]
    fn slots_are_charged_together_as_long_as_they_are_lost_in_the_same_way() {
        let mut lost = Lost::default();
        assert_eq!(lost.lose(Stall::Memory, WAITING, 2), None, "nothing was lost before");
        assert_eq!(lost.lose(Stall::Memory, WAITING, 3), None);
        let before = Loss { cause: Stall::Memory, waiting: WAITING, slots: 5 };
        assert_eq!(lost.lose(Stall::Barrier, WAITING, 1), Some(before));
        assert_eq!(
            lost.lose(Stall::Barrier, None, 4),
            Some(Loss { cause: Stall::Barrier, slots: 1, ..before })
        );
        lost.lose_more(2);
        let more = Loss { cause: Stall::Barrier, waiting: None, slots: 6 };
        assert_eq!((lost.take(), lost.take()), (Some(more), None));
        lost.lose_more(1);
        assert_eq!(lost.take(), Some(Loss { slots: 1, ..more }), "in the same way, after it was taken");
    }

    #[test]
    fn without_a_warp_none_is_charged() {
        assert_eq!(Lost::default().choose((Stall::NoWarp, 0), 5), None);
    }
}
