//! CTAs fill one SM after the other.

use schemars::JsonSchema;
use serde::Deserialize;

use super::policy::{Dispatch, SmView};

/// Depth first: fills the first SM that has room before the next gets any. Neighbouring CTAs share an L1D, and
/// a grid that does not fill the GPU leaves SMs idle (ASSUMED: the opposite of round robin, by which to bound it).
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepthFirst {}

impl Dispatch for DepthFirst {
    fn pick(&mut self, sms: &[SmView]) -> Option<usize> {
        let first = sms.iter().position(|sm| sm.fits)?;
        sms[first].takes.then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::policy::script::{Step, picks};

    #[test]
    fn an_sm_is_full_before_the_next_gets_any() {
        let cycle = || Step::Cycle;
        let steps = [cycle(), cycle(), cycle(), Step::End(0), cycle(), cycle()];
        let cycles = picks(DepthFirst {}, (8, 3, 2), &steps);
        // Two fit. Once an SM is full, the next gets its first in the same cycle. In the fourth cycle the first SM has room
        // again and goes before the last.
        assert_eq!(cycles, [vec![0], vec![0, 1], vec![1, 2], vec![0, 2], vec![]]);
    }

    #[test]
    fn an_sm_that_the_next_cluster_does_not_fit_is_passed_over() {
        let sms = [(1, false), (3, true)].map(|(room, fits)| SmView { resident: 0, room, fits, takes: fits });
        assert_eq!(DepthFirst {}.pick(&sms), Some(1));
    }
}
