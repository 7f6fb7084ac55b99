//! Loose round robin.

use schemars::JsonSchema;
use serde::Deserialize;

use super::policy::{View, WarpScheduler};

/// Loose round robin: picks the next ready warp after the one that issued last (GPGPU-Sim and Accel-Sim, `lrr`).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LooseRoundRobin {
    #[serde(skip)]
    last: usize,
}

impl LooseRoundRobin {
    /// Picks the next of these warps after the last one picked, wrapping around.
    #[inline]
    pub(super) fn next(&mut self, ready: u64) -> Option<usize> {
        let after = ready & (u64::MAX << self.last << 1);
        let from = if after != 0 { after } else { ready };
        if from == 0 {
            return None;
        }
        self.last = from.trailing_zeros() as usize;
        Some(self.last)
    }
}

impl WarpScheduler for LooseRoundRobin {
    #[inline]
    fn pick(&mut self, view: View) -> Option<usize> {
        self.next(view.ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ready_warp_has_its_turn() {
        let mut scheduler = LooseRoundRobin::default();
        let ready = 1 << 63 | 0b1011;
        let turns: Vec<_> = (0..6).map(|_| scheduler.next(ready).unwrap()).collect();
        assert_eq!(turns, [1, 3, 63, 0, 1, 3]);
        assert_eq!(scheduler.next(0), None);
        assert_eq!(scheduler.next(ready), Some(63), "a cycle without an issue changes nothing");
    }
}
