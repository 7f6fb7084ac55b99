//! CTAs go round.

use schemars::JsonSchema;
use serde::Deserialize;

use super::policy::{Dispatch, SmView};

/// Breadth first: the next SM after the last one that got a CTA (GPGPU-Sim and Accel-Sim, `issue_block2core`).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundRobin {
    /// The SM whose turn it is.
    #[serde(skip)]
    turn: usize,
}

impl RoundRobin {
    /// The next SM that may get a CTA, whose turn is over then.
    pub(super) fn next(&mut self, sms: &[SmView], may: impl Fn(&SmView) -> bool) -> Option<usize> {
        let (before, after) = sms.split_at(self.turn.min(sms.len()));
        let found = after.iter().position(&may).map(|place| before.len() + place);
        let picked = found.or_else(|| before.iter().position(&may))?;
        self.turn = (picked + 1) % sms.len();
        Some(picked)
    }
}

impl Dispatch for RoundRobin {
    fn pick(&mut self, sms: &[SmView]) -> Option<usize> {
        self.next(sms, |sm| sm.takes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::policy::script::{Step, picks};

    #[test]
    fn every_sm_has_its_turn() {
        let steps = [Step::Cycle, Step::Cycle, Step::Cycle, Step::End(1), Step::Cycle];
        let cycles = picks(RoundRobin::default(), (8, 3, 2), &steps);
        // Six fit; the seventh goes where a CTA ends.
        assert_eq!(cycles, [vec![0, 1, 2], vec![0, 1, 2], vec![], vec![1]]);
    }

    #[test]
    fn the_turn_is_that_of_the_sm_after_the_last() {
        let mut policy = RoundRobin::default();
        let takes = |which: [bool; 4]| which.map(|takes| SmView { resident: 0, room: 1, fits: takes, takes });
        assert_eq!(policy.pick(&takes([true; 4])), Some(0));
        assert_eq!(policy.pick(&takes([true, false, true, true])), Some(2), "SM 1 is passed over");
        assert_eq!(policy.pick(&takes([true, true, true, false])), Some(0), "around");
        assert_eq!(policy.pick(&takes([false; 4])), None);
        assert_eq!(policy.pick(&takes([true; 4])), Some(1), "an answer of none changes nothing");
    }
}
