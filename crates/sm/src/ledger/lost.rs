//! The warps that a lost issue slot is charged to.

use strata_engine::Cycle;

use super::At;
use crate::statistics::Stall;

/// A warp that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    /// The instruction at which it waits.
    pub at: At,
    /// The instruction whose result it waits for, if it waits for one.
    pub producer: Option<At>,
}

/// Why a scheduler loses its slots, and the warps that wait for that.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lost {
    pub cause: Stall,
    pub warps: Vec<Waiting>,
}

impl Lost {
    /// Charges the slots of `cycles` cycles from `from` on: each to one warp, in turn by the number of the cycle, or to none if no warp waits.
    pub fn charge(&self, from: Cycle, cycles: u64, charge: &mut impl FnMut(Option<At>, Stall, u64)) {
        if self.warps.is_empty() {
            return charge(None, self.cause, cycles);
        }
        self.shares(from, cycles, |warp, slots| charge(Some(warp.at), self.cause, slots));
    }

    /// Charges the same slots to the instructions whose results the warps wait for.
    pub fn charge_producers(
        &self,
        from: Cycle,
        cycles: u64,
        charge: &mut impl FnMut(Option<At>, Stall, u64),
    ) {
        self.shares(from, cycles, |warp, slots| {
            if warp.producer.is_some() {
                charge(warp.producer, self.cause, slots);
            }
        });
    }

    fn shares(&self, from: Cycle, cycles: u64, mut share: impl FnMut(&Waiting, u64)) {
        let warps = self.warps.len() as u64;
        if warps == 0 {
            return;
        }
        let first = from.0 % warps;
        let (each, more) = (cycles / warps, cycles % warps);
        for (place, warp) in self.warps.iter().enumerate() {
            let turn = (place as u64 + warps - first) % warps;
            let slots = each + u64::from(turn < more);
            if slots > 0 {
                share(warp, slots);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(warps: u64) -> Lost {
        let at = |cta| Waiting { at: At { pc: 0, cta }, producer: None };
        Lost { cause: Stall::Memory, warps: (0..warps).map(at).collect() }
    }

    fn charged(lost: &Lost, from: u64, cycles: u64) -> Vec<u64> {
        let mut all = vec![0; lost.warps.len()];
        lost.charge(Cycle(from), cycles, &mut |at, _, slots| all[at.unwrap().cta as usize] += slots);
        all
    }

    #[test]
    fn warps_take_turns_by_the_cycle_however_cycles_are_put_together() {
        let three = lost(3);
        assert_eq!(charged(&three, 4, 5), [1, 2, 2], "cycles 4, 5, 6, 7, 8 fall to warps 1, 2, 0, 1, 2");
        for from in 0..7 {
            for cycles in 0..11 {
                let mut one_by_one = vec![0; 3];
                for cycle in from..from + cycles {
                    let once = charged(&three, cycle, 1);
                    one_by_one.iter_mut().zip(once).for_each(|(all, more)| *all += more);
                }
                assert_eq!(charged(&three, from, cycles), one_by_one, "{cycles} cycles from {from} on");
            }
        }
    }

    #[test]
    fn a_slot_for_which_no_warp_waits_is_charged_to_none() {
        let mut seen = Vec::new();
        lost(0).charge(Cycle(3), 4, &mut |at, cause, slots| seen.push((at, cause, slots)));
        assert_eq!(seen, [(None, Stall::Memory, 4)]);
    }
}
