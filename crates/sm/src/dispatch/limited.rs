//! CTAs go round, and an SM has only so many.

use schemars::JsonSchema;
use serde::Deserialize;

use super::policy::{Dispatch, SmView};
use super::round_robin::RoundRobin;

/// As round-robin, with at most so many CTAs on an SM at a time: fewer than fit, so that they do not evict each other's lines
/// (Kayiran et al., "Neither More Nor Less", PACT 2013, with a number that stays).
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limited {
    /// The most CTAs on an SM, 1 to 32; a cluster that is larger runs alone.
    #[schemars(range(min = 1, max = 32), extend("unit" = "CTAs"))]
    pub most_per_sm: u32,
    #[serde(skip)]
    order: RoundRobin,
}

impl Limited {
    /// Round robin with at most `most_per_sm` CTAs on an SM.
    pub fn to(most_per_sm: u32) -> Limited {
        Limited { most_per_sm, order: RoundRobin::default() }
    }
}

impl Dispatch for Limited {
    fn check(&self) -> Result<(), String> {
        match self.most_per_sm {
            1..=32 => Ok(()),
            found => Err(format!("found most_per_sm = {found}, expected 1 to 32")),
        }
    }

    fn most_per_sm(&self, fit: u32) -> u32 {
        fit.min(self.most_per_sm)
    }

    fn pick(&mut self, sms: &[SmView]) -> Option<usize> {
        self.order.pick(sms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::policy::script::{Step, picks};

    #[test]
    fn an_sm_has_no_more_than_the_limit() {
        let steps = [Step::Cycle, Step::Cycle, Step::Cycle, Step::End(1), Step::Cycle];
        let cycles = picks(Limited::to(2), (9, 2, 8), &steps);
        assert_eq!(cycles, [vec![0, 1], vec![0, 1], vec![], vec![1]]);
        // Where fewer fit, these are the limit.
        assert_eq!(picks(Limited::to(2), (9, 2, 1), &steps[..2]), [vec![0, 1], vec![]]);
    }

    #[test]
    fn a_limit_that_no_sm_can_have_is_refused() {
        assert!(Limited::to(1).check().is_ok() && Limited::to(32).check().is_ok());
        assert_eq!(Limited::to(0).check().unwrap_err(), "found most_per_sm = 0, expected 1 to 32");
        assert_eq!(Limited::to(33).check().unwrap_err(), "found most_per_sm = 33, expected 1 to 32");
    }
}
