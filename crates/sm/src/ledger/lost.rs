//! The warp that lost issue slots are charged to.

use super::event::At;
use crate::statistics::Stall;

/// A warp that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    /// The instruction at which it waits.
    pub at: At,
    /// The instruction whose result it waits for, if it waits for one.
    pub producer: Option<At>,
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

    pub fn cause(&self) -> Stall {
        self.cause
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
    fn without_a_warp_none_is_charged() {
        assert_eq!(Lost::default().choose((Stall::NoWarp, 0), 5), None);
    }
}
