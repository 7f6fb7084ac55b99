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
    cause: Stall,
    /// The warps that wait for that.
    warps: u64,
    /// The one that is charged,
    warp: usize,
    /// and where it waited when it was looked at last; `None` without a warp.
    pub waiting: Option<Waiting>,
    /// What is not charged yet.
    open: Loss,
}

impl Lost {
    /// The warp to charge from a cycle on, of these that wait for a cause: the same as before while they are the same, or else one by the
    /// number of the cycle. So the choice does not depend on how cycles are put together.
    pub fn choose(&mut self, (cause, warps): (Stall, u64), from: u64) -> Option<usize> {
        if (self.cause, self.warps) != (cause, warps) || self.waiting.is_none() {
            (self.cause, self.warps) = (cause, warps);
            self.warp = nth(warps, from);
        }
        (warps != 0).then_some(self.warp)
    }

    /// Loses slots as it is now. Returns what was lost in another way before, to be charged.
    #[inline]
    pub fn lose(&mut self, slots: u64) -> Option<Loss> {
        if (self.open.cause, self.open.waiting) == (self.cause, self.waiting) {
            self.open.slots += slots;
            return None;
        }
        let before =
            std::mem::replace(&mut self.open, Loss { cause: self.cause, waiting: self.waiting, slots });
        (before.slots > 0).then_some(before)
    }

    /// Takes what is not charged yet.
    pub fn take(&mut self) -> Loss {
        std::mem::take(&mut self.open)
    }

    /// The scheduler has issued: next time, another warp may be charged.
    pub fn end(&mut self) {
        self.waiting = None;
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
        let chosen: Vec<Option<usize>> = (6..12)
            .map(|from| {
                lost.end();
                lost.choose(three, from)
            })
            .collect();
        assert_eq!(chosen, [2, 5, 8, 2, 5, 8].map(Some));
        lost.waiting = WAITING;
        assert_eq!(lost.choose(three, 6), Some(8), "the same warps wait for the same");
        assert_eq!(lost.choose((Stall::Barrier, three.1), 6), Some(2), "for something else");
        lost.waiting = WAITING;
        assert_eq!(lost.choose((Stall::Barrier, 0b10_0000), 6), Some(5), "others do");
    }

    #[test]
    fn slots_are_charged_together_as_long_as_they_are_lost_in_the_same_way() {
        let mut lost = Lost::default();
        lost.choose((Stall::Memory, 1), 0);
        lost.waiting = WAITING;
        assert_eq!((lost.lose(2), lost.lose(3)), (None, None));
        lost.choose((Stall::Barrier, 1), 5);
        let before = Loss { cause: Stall::Memory, waiting: WAITING, slots: 5 };
        assert_eq!(lost.lose(1), Some(before));
        lost.end();
        assert_eq!(lost.lose(4), Some(Loss { cause: Stall::Barrier, slots: 1, ..before }));
        assert_eq!(lost.take(), Loss { cause: Stall::Barrier, waiting: None, slots: 4 });
        assert_eq!(lost.take(), Loss::default());
    }

    #[test]
    fn without_a_warp_none_is_charged() {
        assert_eq!(Lost::default().choose((Stall::NoWarp, 0), 5), None);
    }
}
